package sluice.core.expression;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// One value of a `pg_node_tree`, as PostgreSQL's `outfuncs.c` prints it, without a meaning yet.
sealed interface Node {
    /// `<>`: a null pointer, an empty list or a null string, which the format does not tell apart.
    Node ABSENT = new Absent();

    /// `{TAG :name value ...}`.
    ///
    /// The accessors throw {@link NodeTreeException} where a field has another form than asked for:
    /// such a tree is of a format we do not know.
    record Struct(String tag, Map<String, Node> fields) implements Node {
        /// The field, or {@link Node#ABSENT}.
        Node field(String name) {
            return fields.getOrDefault(name, ABSENT);
        }

        boolean absent(String name) {
            return field(name) instanceof Absent;
        }

        Struct struct(String name) {
            if (field(name) instanceof Struct struct) {
                return struct;
            }
            throw new NodeTreeException("field \"" + name + "\" of " + tag + " is not a node");
        }

        String token(String name) {
            if (field(name) instanceof Token(var text)) {
                return text;
            }
            throw new NodeTreeException("field \"" + name + "\" of " + tag + " is not a word");
        }

        /// Oids are printed unsigned; they come back as the bits.
        int integer(String name) {
            try {
                return (int) Long.parseLong(token(name));
            } catch (NumberFormatException notNumber) {
                throw new NodeTreeException("field \"" + name + "\" of " + tag + " is not a number");
            }
        }

        boolean flag(String name) {
            return switch (token(name)) {
                case "true" -> true;
                case "false" -> false;
                default -> throw new NodeTreeException("field \"" + name + "\" of " + tag + " is not a boolean");
            };
        }

        List<Node> list(String name) {
            return switch (field(name)) {
                case Sequence(var items) -> items;
                case Absent() -> List.of();
                case Struct ignored -> throw notList(name);
                case Token ignored -> throw notList(name);
                case Quoted ignored -> throw notList(name);
                case Datum ignored -> throw notList(name);
            };
        }

        private NodeTreeException notList(String name) {
            return new NodeTreeException("field \"" + name + "\" of " + tag + " is not a list");
        }
    }

    /// `(...)`; a typed list keeps its letter as the first item.
    record Sequence(List<Node> items) implements Node {
        public Sequence {
            items = List.copyOf(items);
        }
    }

    /// A bare word, its backslashes undone.
    record Token(String text) implements Node {}

    /// `"..."`, its backslashes undone.
    record Quoted(String text) implements Node {}

    record Absent() implements Node {}

    /// `length [ byte byte ... ]`: a datum as the server holds it in memory. Not changed after it was read.
    record Datum(byte[] bytes) implements Node {
        @Override
        public boolean equals(Object other) {
            return other instanceof Datum(var otherBytes) && Arrays.equals(bytes, otherBytes);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }

        @Override
        public String toString() {
            return "Datum[" + bytes.length + " bytes]";
        }
    }
}
