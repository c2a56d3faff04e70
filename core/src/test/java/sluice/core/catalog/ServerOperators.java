package sluice.core.catalog;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.core.value.Oid;

/// Rows of `pg_operator` and `pg_proc` as a server has them, as far as tests without one need them.
public final class ServerOperators {
    private static final List<Row> ROWS = List.of(
            new Row(91, "=", Oid.BOOL, Oid.BOOL, 60, "booleq"),
            new Row(96, "=", Oid.INT4, Oid.INT4, 65, "int4eq"),
            new Row(518, "<>", Oid.INT4, Oid.INT4, 144, "int4ne"),
            new Row(97, "<", Oid.INT4, Oid.INT4, 66, "int4lt"),
            new Row(523, "<=", Oid.INT4, Oid.INT4, 149, "int4le"),
            new Row(521, ">", Oid.INT4, Oid.INT4, 147, "int4gt"),
            new Row(525, ">=", Oid.INT4, Oid.INT4, 150, "int4ge"),
            new Row(15, "=", Oid.INT4, Oid.INT8, 852, "int48eq"),
            new Row(98, "=", Oid.TEXT, Oid.TEXT, 67, "texteq"),
            new Row(531, "<>", Oid.TEXT, Oid.TEXT, 157, "textne"),
            new Row(664, "<", Oid.TEXT, Oid.TEXT, 740, "text_lt"),
            new Row(1209, "~~", Oid.TEXT, Oid.TEXT, 850, "textlike"),
            // stands for an operator that nobody decides in process
            new Row(666, ">", Oid.TEXT, Oid.TEXT, 742, "text_gt_of_tomorrow"),
            new Row(2799, "=", 27, 27, 1292, "tideq"));

    private record Row(int oid, String name, int left, int right, int functionOid, String symbol) {}

    private ServerOperators() {}

    /// By oid; the map is the caller's.
    public static Map<Integer, Operator> operators() {
        Map<Integer, Operator> byOid = new LinkedHashMap<>();
        for (Row row : ROWS) {
            byOid.put(
                    row.oid,
                    new Operator(row.oid, "pg_catalog", row.name, row.left, row.right, Oid.BOOL, row.functionOid));
        }
        return byOid;
    }

    /// The functions behind them, by oid; the map is the caller's.
    public static Map<Integer, Function> functions() {
        Map<Integer, Function> byOid = new LinkedHashMap<>();
        for (Row row : ROWS) {
            byOid.put(
                    row.functionOid,
                    new Function(
                            row.functionOid,
                            "pg_catalog",
                            row.symbol,
                            "internal",
                            Function.Volatility.IMMUTABLE,
                            Function.Strictness.STRICT,
                            Function.Security.INVOKER,
                            Oid.BOOL,
                            List.of(row.left, row.right),
                            row.symbol,
                            null,
                            null,
                            new LinkedHashMap<>(),
                            "1"));
        }
        return byOid;
    }
}
