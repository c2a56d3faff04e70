package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.expression.SqlTokens.Kind;
import sluice.core.expression.SqlTokens.Token;
import sluice.core.expression.SqlTokens.Unproven;
import sluice.core.value.Oid;

/// Recognises the string bodies of SQL functions that can read nothing but the caller's settings.
///
/// It does not evaluate or translate a body, PostgreSQL does that; it only has to be sure. So it reads a small
/// language (one `SELECT` of one expression, from literals, `current_setting('request...')`, `coalesce`, `nullif`,
/// casts to built-in types, a few operators and calls of named functions) and gives up at the first word that is
/// not in it. `FROM` is not in it, and neither is any bare name. What its operators and functions mean follows from
/// the types, as {@link BodyNames} knows them.
///
/// Used for one body, on one thread, and thrown away.
final class SqlBody {
    private static final int NESTING_MAX = 64;
    private static final int LENGTH_MAX = 16 << 10;

    private static final List<String> OPERATORS = List.of("->", "->>", "#>", "#>>", "||");

    private final List<Token> tokens;
    private final BodyNames names;
    private final List<Call> calls = new ArrayList<>();
    private int position;
    private int nesting;

    private SqlBody(List<Token> tokens, BodyNames names) {
        this.tokens = tokens;
        this.names = names;
    }

    /// A call of a function outside `pg_catalog`, to be proven in turn.
    record Call(String schema, String name) {}

    /// @param list in the order of the text
    record Calls(List<Call> list) {
        Calls {
            list = List.copyOf(list);
        }
    }

    /// @return the functions it calls, or null when the body is not of the language
    static @Nullable Calls read(String text, BodyNames names) {
        if (text.length() > LENGTH_MAX) {
            return null;
        }
        try {
            SqlBody body = new SqlBody(SqlTokens.of(text), names);
            body.statement();
            return new Calls(body.calls);
        } catch (Unproven unproven) {
            return null;
        }
    }

    private void statement() {
        expectWord("select");
        int type = expression();
        if (acceptWord("as")) {
            name();
        }
        boolean ignored = accept(";");
        if (peek().kind() != Kind.END) {
            throw new Unproven();
        }
        names.returned(type);
    }

    /// The type of what was read, as of every method below.
    private int expression() {
        if (++nesting > NESTING_MAX) {
            throw new Unproven();
        }
        int type = conjunction();
        while (acceptWord("or")) {
            type = condition(type, conjunction());
        }
        nesting--;
        return type;
    }

    private int conjunction() {
        int type = negation();
        while (acceptWord("and")) {
            type = condition(type, negation());
        }
        return type;
    }

    private int negation() {
        boolean negated = false;
        while (acceptWord("not")) {
            negated = true;
        }
        int type = test();
        return negated ? condition(type, type) : type;
    }

    /// An operator of truth values and of nothing else: a user cannot give it another meaning.
    private static int condition(int left, int right) {
        boolean truths =
                (left == Oid.BOOL || left == BodyNames.LITERAL) && (right == Oid.BOOL || right == BodyNames.LITERAL);
        if (!truths) {
            throw new Unproven();
        }
        return Oid.BOOL;
    }

    private int test() {
        int type = comparison();
        while (acceptWord("is")) {
            boolean ignored = acceptWord("not");
            if (!acceptWord("null")) {
                if (!acceptWord("true") && !acceptWord("false")) {
                    throw new Unproven();
                }
                type = condition(type, type);
            }
            type = Oid.BOOL;
        }
        return type;
    }

    private int comparison() {
        int left = operation();
        Token next = peek();
        if (next.kind() != Kind.OPERATOR || !BodyNames.COMPARISONS.contains(next.text())) {
            return left;
        }
        position++;
        return names.operator(next.text(), left, operation());
    }

    private int operation() {
        int type = cast();
        while (peek().kind() == Kind.OPERATOR && OPERATORS.contains(peek().text())) {
            String operator = take().text();
            type = names.operator(operator, type, cast());
        }
        return type;
    }

    private int cast() {
        int type = primary();
        while (accept("::")) {
            type = names.cast(type, type());
        }
        return type;
    }

    private int primary() {
        Token token = take();
        return switch (token.kind()) {
            case STRING -> BodyNames.LITERAL;
            case NUMBER -> BodyNames.number(token.text());
            case PARAMETER -> names.parameter(token.text());
            case PUNCTUATION -> {
                if (!token.text().equals("(")) {
                    throw new Unproven();
                }
                yield parenthesis();
            }
            case WORD -> word(token.text());
            case QUOTED_NAME -> qualifiedCall(token.text());
            case OPERATOR, END -> throw new Unproven();
        };
    }

    private int parenthesis() {
        int type;
        if (acceptWord("select")) {
            type = expression();
            // what a sub-select returns is never left open
            type = type == BodyNames.LITERAL ? Oid.TEXT : type;
            if (acceptWord("as")) {
                name();
            }
        } else {
            type = expression();
        }
        expect(")");
        return type;
    }

    private int word(String word) {
        return switch (word) {
            case "null" -> BodyNames.LITERAL;
            case "true", "false" -> Oid.BOOL;
            case "current_user", "current_role" -> Oid.NAME;
            case "coalesce" -> names.common(arguments());
            case "nullif" -> names.nullIf(arguments());
            case "current_setting" -> setting();
            case "cast" -> castCall();
            default ->
                BodyNames.FUNCTIONS.contains(word) && peek().text().equals("(")
                        ? names.function(word, arguments())
                        : qualifiedCall(word);
        };
    }

    private int setting() {
        expect("(");
        Token name = take();
        if (name.kind() != Kind.STRING || !name.text().startsWith(FunctionSafety.CALLER_SETTINGS)) {
            throw new Unproven();
        }
        if (accept(",") && !acceptWord("true") && !acceptWord("false")) {
            throw new Unproven();
        }
        expect(")");
        return names.function("current_setting", List.of(BodyNames.LITERAL));
    }

    private int castCall() {
        expect("(");
        int from = expression();
        expectWord("as");
        int type = names.cast(from, type());
        expect(")");
        return type;
    }

    /// Only `schema.function(...)`: what a bare name means depends on the search path.
    private int qualifiedCall(String schema) {
        expect(".");
        String name = name();
        if (schema.equals("pg_catalog")) {
            if (name.equals("current_setting")) {
                return setting();
            }
            if (!BodyNames.FUNCTIONS.contains(name)) {
                throw new Unproven();
            }
            return names.function(name, arguments());
        }
        Call call = new Call(schema, name);
        calls.add(call);
        List<Integer> ignored = arguments();
        return names.called(call);
    }

    private List<Integer> arguments() {
        List<Integer> types = new ArrayList<>();
        expect("(");
        if (accept(")")) {
            return types;
        }
        do {
            types.add(expression());
        } while (accept(","));
        expect(")");
        return types;
    }

    private int type() {
        String name = name();
        if (name.equals("pg_catalog") && accept(".")) {
            name = name();
        }
        boolean array = accept("[");
        if (array) {
            expect("]");
        }
        return names.type(name, array ? BodyNames.Form.ARRAY : BodyNames.Form.ONE);
    }

    private String name() {
        Token token = take();
        if (token.kind() != Kind.WORD && token.kind() != Kind.QUOTED_NAME) {
            throw new Unproven();
        }
        return token.text();
    }

    private Token peek() {
        return tokens.get(position);
    }

    private Token take() {
        Token token = tokens.get(position);
        if (token.kind() == Kind.END) {
            throw new Unproven();
        }
        position++;
        return token;
    }

    private boolean accept(String punctuation) {
        if (peek().kind() == Kind.PUNCTUATION && peek().text().equals(punctuation)) {
            position++;
            return true;
        }
        return false;
    }

    private void expect(String punctuation) {
        if (!accept(punctuation)) {
            throw new Unproven();
        }
    }

    private boolean acceptWord(String word) {
        if (peek().kind() == Kind.WORD && peek().text().equals(word)) {
            position++;
            return true;
        }
        return false;
    }

    private void expectWord(String word) {
        if (!acceptWord(word)) {
            throw new Unproven();
        }
    }
}
