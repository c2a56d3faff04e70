package sluice.server.judge;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sluice.testkit.PostgresDatabase;

/// Every non-volatile function, operator and cast of `pg_catalog` whose types are judged, polymorphic ones once for
/// each type they can take.
///
/// Left out is what nobody writes in a policy: the parts that hashes and the wire are made of, the functions that
/// look at the catalog, and those behind `::varchar(2)`, which are written as that.
final class Callables {
    private static final String LISTING = """
        SELECT kind, name, symbol,
               (SELECT coalesce(string_agg(t.typname, ' ' ORDER BY a.n), '')
                  FROM unnest(args) WITH ORDINALITY a (type, n) JOIN pg_type t ON t.oid = a.type),
               (SELECT t.typname FROM pg_type t WHERE t.oid = result)
          FROM (
            SELECT 'OPERATOR' AS kind, o.oprname::text AS name, p.prosrc AS symbol,
                   CASE WHEN o.oprleft = 0 THEN ARRAY[o.oprright] ELSE ARRAY[o.oprleft, o.oprright] END AS args,
                   o.oprresult AS result
              FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
             WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND p.provolatile <> 'v' AND NOT p.proretset
            UNION ALL
            SELECT CASE WHEN p.provariadic NOT IN (0, '"any"'::regtype) THEN 'VARIADIC' ELSE 'FUNCTION' END, p.proname, p.prosrc, p.proargtypes::oid[], p.prorettype
              FROM pg_proc p
             WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND NOT p.proretset
               AND p.provolatile <> 'v' AND p.oid < 16384
               AND p.proname !~ '^(pg_|has_|row_security|binary_upgrade|txid_|ts_|inet_client|inet_server|hash|icu_)'
               AND p.proname NOT IN ('repeat', 'lpad', 'rpad', 'array_fill')
               AND p.proname !~ '(_to_xml|description|send|_support$|^currtid|^statement_timestamp|extract_)'
               AND NOT EXISTS (SELECT FROM pg_operator o WHERE o.oprcode = p.oid)
               AND NOT EXISTS (SELECT FROM pg_cast c WHERE c.castfunc = p.oid AND p.pronargs > 1)
            UNION ALL
            SELECT 'CAST', '::', coalesce(p.prosrc, ''), ARRAY[c.castsource], c.casttarget
              FROM pg_cast c LEFT JOIN pg_proc p ON p.oid = c.castfunc
             WHERE c.oid < 16384 AND c.castsource <> c.casttarget) listed
         ORDER BY 1, 2, 3, 4, 5\
        """;

    // repeat and its like are left out: of a random number of times they make a pattern that PostgreSQL compiles for
    // minutes. The function judge calls them.
    private static final List<String> ARRAYS = List.of("anyarray", "anycompatiblearray");
    private static final List<String> ELEMENTS =
            List.of("anyelement", "anynonarray", "anycompatible", "anycompatiblenonarray");
    private static final List<String> ANY_SAMPLES = List.of("int4", "text", "bool", "numeric", "timestamptz", "_int4");

    private final JudgedTypes types;
    private final Map<String, Callable> found = new LinkedHashMap<>();

    private Callables(JudgedTypes types) {
        this.types = types;
    }

    static List<Callable> of(PostgresDatabase database, JudgedTypes types) {
        Callables callables = new Callables(types);
        for (List<@Nullable String> row : database.rows(LISTING)) {
            String arguments = Objects.requireNonNull(row.get(3));
            callables.concrete(new Callable(
                    Callable.Kind.valueOf(Objects.requireNonNull(row.get(0))),
                    Objects.requireNonNull(row.get(1)),
                    Objects.requireNonNull(row.get(2)),
                    arguments.isEmpty() ? List.of() : List.of(arguments.split(" ", -1)),
                    String.valueOf(row.get(4))));
        }
        callables.printedAndRead();
        return List.copyOf(callables.found.values());
    }

    private void concrete(Callable declared) {
        List<String> all = new ArrayList<>(declared.arguments());
        all.add(declared.result());
        if (all.contains("anyrange")) {
            JudgedTypes.RANGES.forEach((range, subtype) -> add(declared, subtype, range));
        } else if (all.contains("anyenum")) {
            add(declared, "mood", "");
        } else if (all.contains("any")) {
            ANY_SAMPLES.forEach(type -> add(declared, type, ""));
        } else if (all.stream().anyMatch(type -> ARRAYS.contains(type) || ELEMENTS.contains(type))) {
            types.arrayElements().forEach(element -> add(declared, element, ""));
        } else {
            add(declared, "", "");
        }
    }

    private void add(Callable declared, String element, String range) {
        List<String> arguments = new ArrayList<>();
        for (String argument : declared.arguments()) {
            arguments.add(concrete(argument, element, range));
        }
        String result = concrete(declared.result(), element, range);
        if (types.has(result) && arguments.stream().allMatch(types::has)) {
            Callable callable =
                    new Callable(declared.kind(), declared.name(), declared.symbol(), List.copyOf(arguments), result);
            found.putIfAbsent(callable.key(), callable);
        }
    }

    private static String concrete(String type, String element, String range) {
        if (ARRAYS.contains(type)) {
            return "_" + element;
        }
        if (ELEMENTS.contains(type) || type.equals("any") || type.equals("anyenum")) {
            return element;
        }
        return type.equals("anyrange") ? range : type;
    }

    /// Casts by way of the text form, which no catalog lists.
    private void printedAndRead() {
        for (String type : types.names()) {
            for (String text : List.of("text", "varchar", "bpchar")) {
                if (!type.equals(text)) {
                    add(new Callable(Callable.Kind.CAST, "::", "", List.of(type), text), "", "");
                    add(new Callable(Callable.Kind.CAST, "::", "", List.of(text), type), "", "");
                }
            }
        }
    }
}
