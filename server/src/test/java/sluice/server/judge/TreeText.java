package sluice.server.judge;

import java.util.ArrayList;
import java.util.List;

/// Takes a stored tree apart without understanding it.
final class TreeText {
    private static final String ARGUMENTS = ":args (";

    private TreeText() {}

    /// The arguments of the function that is the first argument of the operator at the root.
    static List<String> firstArguments(String tree) {
        int operator = tree.indexOf(ARGUMENTS) + ARGUMENTS.length();
        int call = tree.indexOf(ARGUMENTS, operator) + ARGUMENTS.length();
        List<String> arguments = new ArrayList<>();
        int depth = 0;
        int start = call;
        for (int at = call; at < tree.length(); at++) {
            char c = tree.charAt(at);
            if (c == '\\') {
                at++;
            } else if (c == '{') {
                start = depth == 0 ? at : start;
                depth++;
            } else if (c == '}') {
                depth--;
                if (depth == 0) {
                    arguments.add(tree.substring(start, at + 1));
                }
            } else if (c == ')' && depth == 0) {
                return arguments;
            }
        }
        throw new IllegalArgumentException("the tree ends early");
    }

    /// The list the rewriter gave to the first table of a query, `<>` where there is none.
    static String securityQuals(String query) {
        String field = ":securityQuals ";
        String text = query.replaceAll("\\s+", " ");
        int start = text.indexOf(field) + field.length();
        if (start < field.length()) {
            throw new IllegalArgumentException("no query in: " + text);
        }
        if (text.startsWith("<>", start)) {
            return "<>";
        }
        int depth = 0;
        for (int at = start; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '\\') {
                at++;
            } else if (c == '(' || c == '{') {
                depth++;
            } else if (c == ')' || c == '}') {
                depth--;
            }
            if (depth == 0 && (c == ')' || c == ' ')) {
                return text.substring(start, at + 1).strip();
            }
        }
        throw new IllegalArgumentException("the tree ends early");
    }

    /// Without what says where in a text a node stood, and with one blank between tokens.
    static String normal(String tree) {
        return tree.replaceAll("\\s+", " ")
                .replaceAll(":hasRowSecurity (true|false)", "")
                .replaceAll(
                        ":(location|stmt_location|stmt_len|list_start|list_end|rexpr_list_start|rexpr_list_end) -?\\d+",
                        "")
                .replaceAll(" *([(){}\\[\\]]) *", "$1")
                .replaceAll(" +", " ")
                .strip();
    }

    static String firstDifference(String ours, String theirs) {
        int at = 0;
        while (at < ours.length() && at < theirs.length() && ours.charAt(at) == theirs.charAt(at)) {
            at++;
        }
        int from = Math.max(0, at - 30);
        return ours.substring(from, Math.min(ours.length(), at + 60)) + "  instead of  "
                + theirs.substring(from, Math.min(theirs.length(), at + 60));
    }
}
