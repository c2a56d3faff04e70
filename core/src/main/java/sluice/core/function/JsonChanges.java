package sluice.core.function;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ArrayValue;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.Json;

/// `||`, `-` and `#-` of `jsonb` (`jsonfuncs.c`).
final class JsonChanges {
    private static final String INVALID_PARAMETER = "22023";
    private static final String WRONG_NUMBER_OF_SUBSCRIPTS = "2202E";
    private static final String NULL_NOT_ALLOWED = "22004";
    private static final String INVALID_TEXT = "22P02";

    private JsonChanges() {}

    /// What becomes of JSON's null in arrays.
    enum NullElements {
        KEPT,
        DROPPED
    }

    /// Members of two objects together, those of the second counting; anything else as arrays.
    static Json concatenated(Json first, Json second) {
        if (first instanceof Json.Mapping(var members) && second instanceof Json.Mapping(var others)) {
            List<Json.Member> all = new ArrayList<>(members);
            all.addAll(others);
            return Json.Mapping.of(all);
        }
        List<Json> elements = new ArrayList<>(asArray(first));
        elements.addAll(asArray(second));
        return new Json.Array(elements);
    }

    private static List<Json> asArray(Json json) {
        return json instanceof Json.Array(var elements) ? elements : List.of(json);
    }

    /// Without members of these keys, or elements that are these texts.
    static Json without(Json json, List<String> keys) {
        return switch (json) {
            case Json.Mapping(var members) ->
                new Json.Mapping(members.stream()
                        .filter(member -> !keys.contains(member.key()))
                        .toList());
            case Json.Array(var elements) ->
                new Json.Array(elements.stream()
                        .filter(element -> !(element instanceof Json.Text(var value) && keys.contains(value)))
                        .toList());
            case Json.Null ignored -> throw new EvaluationException(INVALID_PARAMETER);
            case Json.Text ignored -> throw new EvaluationException(INVALID_PARAMETER);
            case Json.Truth ignored -> throw new EvaluationException(INVALID_PARAMETER);
            case Json.Numeral ignored -> throw new EvaluationException(INVALID_PARAMETER);
        };
    }

    static Json withoutElement(Json json, long index) {
        if (!(json instanceof Json.Array(var elements))) {
            throw new EvaluationException(INVALID_PARAMETER);
        }
        long at = index < 0 ? elements.size() + index : index;
        return at < 0 || at >= elements.size() ? json : new Json.Array(replaced(elements, (int) at, null));
    }

    private static List<Json> replaced(List<Json> elements, int index, @Nullable Json element) {
        List<Json> changed = new ArrayList<>(elements);
        if (element == null) {
            changed.remove(index);
        } else {
            changed.set(index, element);
        }
        return changed;
    }

    /// @throws EvaluationException when it has more dimensions than one
    static ArrayValue flat(ArrayValue array) {
        if (array.dimensions() > 1) {
            throw new EvaluationException(WRONG_NUMBER_OF_SUBSCRIPTS);
        }
        return array;
    }

    static Json withoutPath(Json json, ArrayValue path) {
        flat(path);
        if (json.isScalar()) {
            throw new EvaluationException(INVALID_PARAMETER);
        }
        boolean isEmpty = switch (json) {
            case Json.Array(var elements) -> elements.isEmpty();
            case Json.Mapping(var members) -> members.isEmpty();
            case Json.Null ignored -> true;
            case Json.Text ignored -> true;
            case Json.Truth ignored -> true;
            case Json.Numeral ignored -> true;
        };
        return isEmpty || path.elements().isEmpty() ? json : withoutPath(json, path.elements(), 0);
    }

    private static Json withoutPath(Json json, List<@Nullable Object> path, int level) {
        if (!(path.get(level) instanceof String step)) {
            throw new EvaluationException(NULL_NOT_ALLOWED);
        }
        boolean last = level == path.size() - 1;
        if (json instanceof Json.Mapping(var members)) {
            List<Json.Member> changed = new ArrayList<>();
            for (Json.Member member : members) {
                if (!member.key().equals(step)) {
                    changed.add(member);
                } else if (!last) {
                    changed.add(new Json.Member(step, withoutPath(member.value(), path, level + 1)));
                }
            }
            return new Json.Mapping(changed);
        }
        if (!(json instanceof Json.Array(var elements))) {
            return json;
        }
        Integer index = JsonFunctions.index(step);
        if (index == null) {
            throw new EvaluationException(INVALID_TEXT);
        }
        int at = index < 0 ? elements.size() + index : index;
        if (at < 0 || at >= elements.size()) {
            return json;
        }
        Json element = last ? null : withoutPath(elements.get(at), path, level + 1);
        return new Json.Array(replaced(elements, at, element));
    }

    /// Without members that are JSON's null, at every level; without such elements only when asked.
    static Json withoutNulls(Json json, NullElements nullElements) {
        if (json instanceof Json.Array(var elements)) {
            List<Json> kept = new ArrayList<>();
            for (Json element : elements) {
                if (nullElements == NullElements.KEPT || !(element instanceof Json.Null)) {
                    kept.add(withoutNulls(element, nullElements));
                }
            }
            return new Json.Array(kept);
        }
        if (json instanceof Json.Mapping(var members)) {
            List<Json.Member> kept = new ArrayList<>();
            for (Json.Member member : members) {
                if (!(member.value() instanceof Json.Null)) {
                    kept.add(new Json.Member(member.key(), withoutNulls(member.value(), nullElements)));
                }
            }
            return new Json.Mapping(kept);
        }
        return json;
    }
}
