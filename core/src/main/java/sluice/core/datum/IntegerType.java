package sluice.core.datum;

import java.nio.ByteBuffer;

/// `int2`, `int4`, `int8` and the unsigned `oid`, all as a {@link Long}.
final class IntegerType extends ValueType<Long> {
    private final long least;
    private final long greatest;

    private IntegerType(int oid, int arrayOid, String sqlName, int bytes, long least, long greatest) {
        super(oid, arrayOid, sqlName, Storage.fixed(bytes, bytes));
        this.least = least;
        this.greatest = greatest;
    }

    static IntegerType signed(int oid, int arrayOid, String sqlName, int bytes) {
        long greatest = Long.MAX_VALUE >> (64 - 8 * bytes);
        return new IntegerType(oid, arrayOid, sqlName, bytes, -greatest - 1, greatest);
    }

    static IntegerType unsigned(int oid, int arrayOid, String sqlName) {
        return new IntegerType(oid, arrayOid, sqlName, 4, 0, 0xffff_ffffL);
    }

    @Override
    public Long parse(String text) {
        long value;
        try {
            value = Long.parseLong(text);
        } catch (NumberFormatException notNumber) {
            throw new EvaluationException("22P02");
        }
        return checked(value);
    }

    /// @throws EvaluationException `22003` when the number is out of the type's range
    long checked(long value) {
        if (value < least || value > greatest) {
            throw new EvaluationException("22003");
        }
        return value;
    }

    @Override
    public Long input(String text) {
        long value = InputText.integer(text);
        if (least == 0 && (value < 0 || value > greatest)) {
            // Negative numbers wrap around.
            throw new UndecidableException();
        }
        return checked(value);
    }

    @Override
    public String print(Long value) {
        return Long.toString(value);
    }

    @Override
    public Long decode(ByteBuffer datum) throws DatumFormatException {
        ByteBuffer word = Datums.fixed(datum, storage().length());
        return switch (storage().length()) {
            case 2 -> (long) word.getShort(0);
            case 4 -> least == 0 ? word.getInt(0) & 0xffff_ffffL : word.getInt(0);
            default -> word.getLong(0);
        };
    }

    @Override
    public int compare(Long left, Long right) {
        return Long.compare(left, right);
    }

    @Override
    public Long cast(Object value) {
        return (Long) value;
    }

    @Override
    public Representation representation() {
        return Representation.INTEGER;
    }
}
