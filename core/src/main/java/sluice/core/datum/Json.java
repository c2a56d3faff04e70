package sluice.core.datum;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A value of `jsonb`: what is left of a JSON text once blanks, repeated keys and the order of keys are forgotten.
///
/// Source: `jsonb.h` and `jsonb_util.c`.
public sealed interface Json {
    /// Levels that are read. The server's limit is the depth of its stack, which lies above.
    int DEPTH_MAX = 1000;

    /// The shorter key first, keys of one length by their bytes: the order in which the server keeps members.
    Comparator<String> KEY_ORDER =
            Comparator.<String>comparingLong(Json::utf8Length).thenComparing(Datums::compareBytes);

    /// JSON's own null, which is no SQL NULL.
    record Null() implements Json {
        public static final Null INSTANCE = new Null();
    }

    record Truth(boolean value) implements Json {}

    /// @param value with the digits it was written with, its scale not negative
    record Numeral(BigDecimal value) implements Json {}

    record Text(String value) implements Json {}

    record Array(List<Json> elements) implements Json {
        public Array {
            elements = List.copyOf(elements);
        }
    }

    /// @param members in {@link #KEY_ORDER}, no key twice
    record Mapping(List<Member> members) implements Json {
        public Mapping {
            members = List.copyOf(members);
        }

        /// Of members with the same key the last counts.
        public static Mapping of(List<Member> members) {
            List<Member> sorted = new ArrayList<>(members);
            sorted.sort(Comparator.comparing(Member::key, KEY_ORDER));
            List<Member> unique = new ArrayList<>();
            for (Member member : sorted) {
                if (!unique.isEmpty() && unique.getLast().key().equals(member.key())) {
                    unique.removeLast();
                }
                unique.add(member);
            }
            return new Mapping(unique);
        }

        /// The value with that key, null when there is none.
        public @Nullable Json member(String key) {
            for (Member member : members) {
                if (member.key().equals(key)) {
                    return member.value();
                }
            }
            return null;
        }
    }

    record Member(String key, Json value) {}

    default boolean isScalar() {
        return switch (this) {
            case Null ignored -> true;
            case Truth ignored -> true;
            case Numeral ignored -> true;
            case Text ignored -> true;
            case Array ignored -> false;
            case Mapping ignored -> false;
        };
    }

    /// `jsonb` equality: numbers by value.
    static boolean same(Json left, Json right) {
        return switch (left) {
            case Null ignored -> right instanceof Null;
            case Truth(var value) -> right instanceof Truth(var other) && value == other;
            case Numeral(var value) -> right instanceof Numeral(var other) && value.compareTo(other) == 0;
            case Text(var value) -> right instanceof Text(var other) && value.equals(other);
            case Array(var elements) -> right instanceof Array(var others) && sameElements(elements, others);
            case Mapping(var members) -> right instanceof Mapping(var others) && sameMembers(members, others);
        };
    }

    private static boolean sameElements(List<Json> left, List<Json> right) {
        boolean same = left.size() == right.size();
        for (int i = 0; same && i < left.size(); i++) {
            same = same(left.get(i), right.get(i));
        }
        return same;
    }

    private static boolean sameMembers(List<Member> left, List<Member> right) {
        boolean same = left.size() == right.size();
        for (int i = 0; same && i < left.size(); i++) {
            same = left.get(i).key().equals(right.get(i).key())
                    && same(left.get(i).value(), right.get(i).value());
        }
        return same;
    }

    private static long utf8Length(String key) {
        long bytes = 0;
        for (int at = 0; at < key.length(); ) {
            int character = key.codePointAt(at);
            bytes += TextTypes.utf8Length(character);
            at += Character.charCount(character);
        }
        return bytes;
    }
}
