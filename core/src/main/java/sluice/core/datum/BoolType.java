package sluice.core.datum;

import java.nio.ByteBuffer;
import sluice.core.value.Oid;

/// `bool`: false sorts before true.
final class BoolType extends ValueType<Boolean> {
    BoolType() {
        super(Oid.BOOL, 1000, "pg_catalog.bool", Storage.fixed(1, 1));
    }

    /// `t` and `f` of the log and of arrays, `true` and `false` of a cast to text.
    @Override
    public Boolean parse(String text) {
        return switch (text) {
            case "t", "true" -> true;
            case "f", "false" -> false;
            default -> throw new EvaluationException("22P02");
        };
    }

    @Override
    public Boolean input(String text) {
        return InputText.truth(text);
    }

    @Override
    public String print(Boolean value) {
        return value ? "t" : "f";
    }

    @Override
    public Boolean decode(ByteBuffer datum) throws DatumFormatException {
        return Datums.fixed(datum, 1).get(0) != 0;
    }

    @Override
    public int compare(Boolean left, Boolean right) {
        return Boolean.compare(left, right);
    }

    @Override
    public Boolean cast(Object value) {
        return (Boolean) value;
    }

    @Override
    public Representation representation() {
        return Representation.TRUTH;
    }
}
