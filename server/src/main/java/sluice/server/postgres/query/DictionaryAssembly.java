package sluice.server.postgres.query;

import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Function;
import sluice.core.catalog.Operator;
import sluice.core.catalog.Role;
import sluice.server.postgres.query.Rows.Row;

/// Builds roles, functions, operators and collations from their rows.
final class DictionaryAssembly {
    private DictionaryAssembly() {}

    static Map<String, Role> roles(List<Row> rows) {
        Map<String, Role> roles = new LinkedHashMap<>();
        for (Row row : rows) {
            Role.Bypass bypass =
                    row.flag(2) ? Role.Bypass.SUPERUSER : row.flag(3) ? Role.Bypass.BYPASS_RLS : Role.Bypass.NONE;
            roles.put(row.text(1), new Role(row.oid(0), row.text(1), bypass, row.numbers(4)));
        }
        return Collections.unmodifiableMap(roles);
    }

    /// @param roles by name, for the names behind the ids of the last column
    /// @param allowed names of all allowed roles, existing or not
    static Map<Integer, Function> functions(List<Row> rows, Map<String, Role> roles, List<String> allowed) {
        Map<String, Boolean> everybody = new LinkedHashMap<>();
        allowed.forEach(name -> everybody.put(name, true));
        Map<Integer, Function> functions = new HashMap<>(rows.size() * 2);
        for (Row row : rows) {
            functions.put(row.oid(0), function(row, executable(row, roles, Collections.unmodifiableMap(everybody))));
        }
        return functions;
    }

    private static Map<String, Boolean> executable(Row row, Map<String, Role> roles, Map<String, Boolean> everybody) {
        if (row.textOrNull(13) == null) {
            return everybody;
        }
        List<Integer> granted = row.numbers(13);
        Map<String, Boolean> executable = new LinkedHashMap<>();
        for (String name : everybody.keySet()) {
            Role role = roles.get(name);
            executable.put(name, role != null && granted.contains(role.oid()));
        }
        return Collections.unmodifiableMap(executable);
    }

    private static Function function(Row row, Map<String, Boolean> executableByRole) {
        return new Function(
                row.oid(0),
                row.text(1),
                row.text(2),
                row.text(3),
                volatility(row.letter(4)),
                row.flag(5) ? Function.Strictness.STRICT : Function.Strictness.CALLED_ON_NULL,
                row.flag(6) ? Function.Security.DEFINER : Function.Security.INVOKER,
                row.oid(7),
                row.numbers(8),
                row.text(9),
                row.textOrNull(10),
                row.textOrNull(11),
                executableByRole,
                row.text(12));
    }

    private static Function.Volatility volatility(char letter) {
        return switch (letter) {
            case 'i' -> Function.Volatility.IMMUTABLE;
            case 's' -> Function.Volatility.STABLE;
            default -> Function.Volatility.VOLATILE;
        };
    }

    static Map<Integer, Operator> operators(List<Row> rows) {
        Map<Integer, Operator> operators = new HashMap<>(rows.size() * 2);
        for (Row row : rows) {
            operators.put(
                    row.oid(0),
                    new Operator(row.oid(0), row.text(1), row.text(2), row.oid(3), row.oid(4), row.oid(5), row.oid(6)));
        }
        return operators;
    }

    static List<CatalogImage.Cast> casts(List<Row> rows) {
        return rows.stream()
                .map(row -> new CatalogImage.Cast(row.oid(0), row.oid(1)))
                .toList();
    }

    static Map<Integer, Collation> collations(List<Row> rows) {
        Map<Integer, Collation> collations = new HashMap<>(rows.size() * 2);
        for (Row row : rows) {
            Collation.Determinism determinism =
                    row.flag(3) ? Collation.Determinism.DETERMINISTIC : Collation.Determinism.NONDETERMINISTIC;
            String provider = provider(row.letter(2));
            collations.put(
                    row.oid(0),
                    new Collation(row.oid(0), row.text(1), provider, locale(provider, row), determinism, row.text(7)));
        }
        return collations;
    }

    private static String provider(char letter) {
        return switch (letter) {
            case 'c' -> "libc";
            case 'i' -> "icu";
            case 'b' -> "builtin";
            default -> "unknown";
        };
    }

    /// Order and case mapping may name two locales of the C library; then the answer is neither.
    private static String locale(String provider, Row row) {
        if (!provider.equals("libc")) {
            return row.text(6);
        }
        String order = row.text(4);
        return order.equals(row.text(5)) ? order : order + "/" + row.text(5);
    }
}
