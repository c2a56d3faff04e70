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
}
