package sluice.server.authorization;

import java.util.List;
import java.util.Random;

/// Boolean expressions over {@link PolicyTable}, as SQL text: everything the evaluator claims to decide, in every
/// type signature, and now and then something it must refuse.
final class RandomExpression {
    private static final List<String> INTEGERS = List.of("i2", "i4", "i8", "di");
    private static final List<String> TEXTS = List.of("tx", "vc", "dt", "cs");
    private static final List<String> OPERATORS = List.of("=", "<>", "<", "<=", ">", ">=");
    private static final List<String> EQUALITIES = List.of("=", "<>");
    private static final List<String> UNDECIDED = List.of(
            "lower(tx) = 'a'",
            "EXISTS (SELECT 1 FROM public.members m WHERE m.id = i4)",
            "public.is_admin()",
            "clock_timestamp() > '2020-01-01'",
            "tx < 'b'",
            "i4 + 1 = 2",
            "nd = 'a'",
            "coalesce(fl, true)",
            "CASE WHEN fl THEN i4 = 1 ELSE i2 = 1 END",
            "u1 = ANY (us)");

    private final Random random;
    private final Undecided undecided;

    /// Whether parts the evaluator does not know may occur.
    enum Undecided {
        LEFT_OUT,
        MIXED_IN
    }

    RandomExpression(Random random, Undecided undecided) {
        this.random = random;
        this.undecided = undecided;
    }

    String next() {
        return truth(1 + random.nextInt(3));
    }

    private String truth(int depth) {
        if (depth == 0) {
            return atom();
        }
        return switch (random.nextInt(8)) {
            case 0, 1 -> "(" + truth(depth - 1) + " AND " + truth(depth - 1) + ")";
            case 2, 3 -> "(" + truth(depth - 1) + " OR " + truth(depth - 1) + ")";
            case 4 -> "(NOT " + truth(depth - 1) + ")";
            case 5 -> "((" + truth(depth - 1) + ") " + truthTest() + ")";
            default -> atom();
        };
    }

    private String atom() {
        if (undecided == Undecided.MIXED_IN && random.nextInt(25) == 0) {
            return pick(UNDECIDED);
        }
        return switch (random.nextInt(16)) {
            case 0, 1 -> integer() + " " + pick(OPERATORS) + " " + integer();
            case 2 -> text() + " " + pick(EQUALITIES) + " " + text();
            case 3 -> uuid() + " " + pick(OPERATORS) + " " + uuid();
            case 4 ->
                pick(List.of("fl", "fm")) + " " + pick(EQUALITIES) + " " + pick(List.of("true", "false", "fm", "fl"));
            case 5 -> pick(List.of("fl", "fm", "db"));
            case 6 -> column() + pick(List.of(" IS NULL", " IS NOT NULL"));
            case 7 -> pick(List.of("fl", "fm")) + " " + truthTest();
            case 8 -> integer() + pick(List.of(" IN (", " NOT IN (")) + integerList() + ")";
            case 9 -> text() + pick(List.of(" IN (", " NOT IN (")) + textList() + ")";
            case 10 -> array();
            case 11 -> integer() + distinct() + integer();
            case 12 ->
                pick(List.of(text() + distinct() + text(), uuid() + distinct() + uuid(), "fl" + distinct() + "fm"));
            default -> caller();
        };
    }

    private String caller() {
        return pick(List.of(
                "u1 = auth.uid()",
                "u1 = (SELECT auth.uid())",
                "auth.uid() = u2",
                "u1::text = (auth.jwt() ->> 'sub')",
                "tx = (auth.jwt() -> 'app' ->> 'team')",
                "tx = auth.role()",
                "vc = (SELECT auth.jwt() ->> 'team')",
                "auth.uid() IS NOT NULL",
                "auth.role() = 'authenticated'",
                "i4 <= (auth.jwt() ->> 'level')::int",
                "i8 > (SELECT (auth.jwt() ->> 'level')::int8)",
                "i4 = nullif(auth.jwt() ->> 'level', '')::smallint",
                "(auth.jwt() #>> '{app,team}') = vc",
                "tx = ANY (ARRAY[auth.jwt() ->> 'team', auth.role(), 'b'])",
                "i4::text = (auth.jwt() ->> 'level')",
                "tx = current_user",
                "public.tenant() = tx",
                "public.atomic_tenant() = vc",
                "tx = coalesce(auth.jwt() ->> 'team', 'a')",
                "tx = any (string_to_array(auth.jwt() ->> 'teams', ','))",
                "(auth.jwt() ->> 'team') IS NOT DISTINCT FROM tx"));
    }

    private String array() {
        return pick(List.of(
                "i4 = ANY ('{1,2,NULL}'::int[])",
                "i2 <> ALL ('{1,2}'::int2[])",
                "i8 = ANY ('{}'::int8[])",
                "i4 > ALL ('{{0,1},{2,-5}}'::int[])",
                "i4 < ANY (ARRAY[i2, 3, NULL])",
                "i8 <> ALL (ARRAY[i8, i4]::int8[])",
                "tx = ANY ('{a,\"b c\",NULL,\"\"}'::text[])",
                "vc = ANY ('{a,é,\\\\}'::text[])",
                "vc <> ALL (ARRAY[vc, 'b']::text[])",
                "u1 = ANY ('{00000000-0000-0000-0000-00000000000a,11111111-1111-1111-1111-111111111111}'::uuid[])",
                "fl = ANY ('{t,NULL}'::bool[])",
                "tx = ANY (NULL::text[])",
                "i4 = ANY ('[0:1]={1,2}'::int[])"));
    }

    private String distinct() {
        return pick(List.of(" IS DISTINCT FROM ", " IS NOT DISTINCT FROM "));
    }

    private String truthTest() {
        return pick(List.of("IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE", "IS UNKNOWN", "IS NOT UNKNOWN"));
    }

    private String column() {
        return pick(List.of("i2", "i4", "i8", "di", "tx", "vc", "dt", "cs", "u1", "u2", "fl", "fm"));
    }

    private String integer() {
        return switch (random.nextInt(5)) {
            case 0 ->
                pick(List.of(
                        "1",
                        "2",
                        "-1",
                        "0::int2",
                        "1::int8",
                        "2147483647",
                        "9223372036854775807",
                        "-32768",
                        "NULL::int"));
            case 1 -> "i2::" + pick(List.of("int4", "int8"));
            default -> pick(INTEGERS);
        };
    }

    private String text() {
        return switch (random.nextInt(4)) {
            case 0 -> pick(List.of("'a'", "'b'", "''", "' a'", "'é'", "'\\'", "'it''s'", "NULL::text", "'NULL'"));
            case 1 -> "vc::text";
            default -> pick(TEXTS);
        };
    }

    private String uuid() {
        return pick(List.of("u1", "u2", "u1", "'00000000-0000-0000-0000-00000000000a'::uuid", "NULL::uuid"));
    }

    private String integerList() {
        return pick(List.of("1, 2", "1, NULL", "i2, 0, -1", "2147483647, -2147483648"));
    }

    private String textList() {
        return pick(List.of("'a', 'b'", "'', NULL", "vc, 'a'", "'é', 'NULL'"));
    }

    private String pick(List<String> choices) {
        return choices.get(random.nextInt(choices.size()));
    }
}
