package sluice.core.datum;

import java.util.List;
import sluice.core.value.Oid;

/// The built-in range types.
public final class RangeTypes {
    // Those of ValueTypes are made later than this class, which it needs.
    private static final ValueType<Long> INT4 = IntegerType.signed(Oid.INT4, 1007, "pg_catalog.int4", 4);
    private static final ValueType<Long> INT8 = IntegerType.signed(Oid.INT8, 1016, "pg_catalog.int8", 8);

    public static final RangeType INT4RANGE =
            new RangeType(3904, "pg_catalog.int4range", INT4, RangeType.Steps.INTEGERS);
    public static final RangeType NUMRANGE =
            new RangeType(3906, "pg_catalog.numrange", NumberTypes.NUMERIC, RangeType.Steps.NONE);
    public static final RangeType TSRANGE =
            new RangeType(3908, "pg_catalog.tsrange", TimeTypes.TIMESTAMP, RangeType.Steps.NONE);
    public static final RangeType TSTZRANGE =
            new RangeType(3910, "pg_catalog.tstzrange", TimeTypes.TIMESTAMPTZ, RangeType.Steps.NONE);
    public static final RangeType DATERANGE =
            new RangeType(3912, "pg_catalog.daterange", TimeTypes.DATE, RangeType.Steps.DAYS);
    public static final RangeType INT8RANGE =
            new RangeType(3926, "pg_catalog.int8range", INT8, RangeType.Steps.INTEGERS);

    public static final List<RangeType> RANGES = List.of(INT4RANGE, NUMRANGE, TSRANGE, TSTZRANGE, DATERANGE, INT8RANGE);

    static final List<ValueType<?>> ALL = List.copyOf(RANGES);

    private RangeTypes() {}
}
