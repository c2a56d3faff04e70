package sluice.core.function;

import java.util.List;
import sluice.core.datum.Json;

/// `@>` (`JsonbDeepContains`): every member of an object is there, every element of an array is somewhere there.
final class JsonContainment {
    private JsonContainment() {}

    static boolean contains(Json json, Json part) {
        if (json instanceof Json.Mapping || part instanceof Json.Mapping) {
            return deep(json, part);
        }
        // At the top a scalar is an array of one, but holds no array.
        if (json.isScalar() && !part.isScalar()) {
            return false;
        }
        return elements(asArray(json), asArray(part));
    }

    private static List<Json> asArray(Json json) {
        return json instanceof Json.Array(var elements) ? elements : List.of(json);
    }

    private static boolean deep(Json json, Json part) {
        if (json instanceof Json.Array(var all) && part instanceof Json.Array(var wanted)) {
            return elements(all, wanted);
        }
        if (json instanceof Json.Mapping mapping && part instanceof Json.Mapping(var wanted)) {
            for (Json.Member member : wanted) {
                Json value = mapping.member(member.key());
                if (value == null || !deep(value, member.value())) {
                    return false;
                }
            }
            return true;
        }
        return json.isScalar() && Json.same(json, part);
    }

    private static boolean elements(List<Json> all, List<Json> wanted) {
        for (Json element : wanted) {
            boolean found = false;
            for (int i = 0; i < all.size() && !found; i++) {
                found = deep(all.get(i), element);
            }
            if (!found) {
                return false;
            }
        }
        return true;
    }
}
