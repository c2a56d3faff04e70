package sluice.core.datum;

/// The order of `jsonb` (`compareJsonbContainers`): Null, String, Number, Boolean, Array, Object; containers by their
/// size first.
///
/// Texts sort in the database's default collation, which is not known here: only whether two are equal is.
final class JsonOrder {
    private JsonOrder() {}

    /// @throws UndecidableException when two different texts decide
    static int compare(Json left, Json right) {
        if (left instanceof Json.Array(var elements) && right.isScalar()) {
            return outermost(elements.size(), -1);
        }
        if (right instanceof Json.Array(var elements) && left.isScalar()) {
            return -outermost(elements.size(), -1);
        }
        return nested(left, right);
    }

    /// An array against a scalar at the very top, where a scalar is stored as an array of one.
    private static int outermost(int size, int scalar) {
        return size == 1 ? -scalar : Integer.compare(size, 1);
    }

    private static int nested(Json left, Json right) {
        if (left instanceof Json.Truth(var a) && right instanceof Json.Truth(var b)) {
            return Boolean.compare(a, b);
        }
        if (left instanceof Json.Numeral(var a) && right instanceof Json.Numeral(var b)) {
            return a.compareTo(b);
        }
        if (left instanceof Json.Text(var a) && right instanceof Json.Text(var b)) {
            return texts(a, b);
        }
        if (left instanceof Json.Array(var a) && right instanceof Json.Array(var b)) {
            int order = Integer.compare(a.size(), b.size());
            for (int i = 0; order == 0 && i < a.size(); i++) {
                order = nested(a.get(i), b.get(i));
            }
            return order;
        }
        if (left instanceof Json.Mapping(var a) && right instanceof Json.Mapping(var b)) {
            int order = Integer.compare(a.size(), b.size());
            for (int i = 0; order == 0 && i < a.size(); i++) {
                order = texts(a.get(i).key(), b.get(i).key());
                order = order != 0 ? order : nested(a.get(i).value(), b.get(i).value());
            }
            return order;
        }
        return Integer.compare(rank(left), rank(right));
    }

    private static int texts(String left, String right) {
        if (!left.equals(right)) {
            throw new UndecidableException();
        }
        return 0;
    }

    private static int rank(Json json) {
        return switch (json) {
            case Json.Null ignored -> 0;
            case Json.Text ignored -> 1;
            case Json.Numeral ignored -> 2;
            case Json.Truth ignored -> 3;
            case Json.Array ignored -> 4;
            case Json.Mapping ignored -> 5;
        };
    }
}
