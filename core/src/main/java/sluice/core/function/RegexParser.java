package sluice.core.function;

import java.util.ArrayList;
import java.util.List;
import sluice.core.datum.UndecidableException;

/// Reads the part of PostgreSQL's regular expressions ("advanced", manual 9.7.3) that means the same in every locale
/// and major: literals, `.`, brackets of ASCII ranges, groups, alternatives, quantifiers, `^`, `$` and the classes
/// `\d \s \w`. Everything else is undecidable, errors included: this parser never says that a pattern is wrong.
///
/// An instance reads one pattern.
final class RegexParser {
    private static final int PATTERN_MAX = 1000;
    private static final int DEPTH_MAX = 50;

    /// Most repetitions that may be counted (`RE_DUP_MAX`).
    private static final int COUNT_MAX = 255;

    private final String pattern;
    private final Regex.LetterMatching letters;
    private final CollationRule collation;
    private int at;
    private int depth;
    private boolean usesClasses;

    RegexParser(String pattern, Regex.LetterMatching letters, CollationRule collation) {
        this.pattern = pattern;
        this.letters = letters;
        this.collation = collation;
    }

    /// Whether it asks what a character is, which is known here for ASCII only.
    boolean usesClasses() {
        return usesClasses;
    }

    RegexNode parse() {
        // Three stars and a question mark in front change how the rest is read.
        if (pattern.length() > PATTERN_MAX || pattern.startsWith("***")) {
            throw new UndecidableException();
        }
        RegexNode node = choice();
        need(at == pattern.length());
        return node;
    }

    private RegexNode choice() {
        need(++depth <= DEPTH_MAX);
        List<RegexNode> branches = new ArrayList<>();
        branches.add(sequence());
        while (peek() == '|') {
            at++;
            branches.add(sequence());
        }
        depth--;
        return branches.size() == 1 ? branches.getFirst() : new RegexNode.Choice(branches);
    }

    private RegexNode sequence() {
        List<RegexNode> parts = new ArrayList<>();
        while (at < pattern.length() && peek() != '|' && peek() != ')') {
            parts.add(repeated(atom()));
        }
        return new RegexNode.Sequence(parts);
    }

    private RegexNode atom() {
        int character = next();
        return switch (character) {
            case '^' -> new RegexNode.Anchor(RegexNode.Edge.START);
            case '$' -> new RegexNode.Anchor(RegexNode.Edge.END);
            case '.' -> new RegexNode.One(new RegexSet.Builder().buildNegated());
            case '(' -> group();
            case '[' -> new RegexNode.One(bracket());
            case '\\' -> new RegexNode.One(escape());
            case '*', '+', '?', '{', '}', ']', ')' -> throw new UndecidableException();
            default -> {
                RegexSet.Builder set = new RegexSet.Builder();
                add(set, character);
                yield new RegexNode.One(set.build());
            }
        };
    }

    private RegexNode group() {
        if (peek() == '?') {
            need(pattern.startsWith("?:", at));
            at += 2;
        }
        RegexNode inside = choice();
        need(peek() == ')');
        at++;
        return inside;
    }

    private RegexNode repeated(RegexNode part) {
        int least;
        int most = RegexNode.UNBOUNDED;
        switch (peek()) {
            case '*' -> least = 0;
            case '+' -> least = 1;
            case '?' -> {
                least = 0;
                most = 1;
            }
            case '{' -> {
                at++;
                least = count();
                most = least;
                if (peek() == ',') {
                    at++;
                    most = peek() == '}' ? RegexNode.UNBOUNDED : count();
                }
                need(peek() == '}' && (most == RegexNode.UNBOUNDED || least <= most));
            }
            default -> {
                return part;
            }
        }
        at++;
        if (peek() == '?') {
            // Which of several matches is taken is not asked.
            at++;
        }
        // Nothing is repeated twice, and what holds at one place only is not repeated at all.
        need("*+?{".indexOf(peek()) < 0 && !part.hasAnchor());
        return new RegexNode.Repeat(part, least, most);
    }

    private int count() {
        int value = 0;
        int start = at;
        while (isDigit(peek())) {
            value = value * 10 + (pattern.charAt(at++) - '0');
            need(value <= COUNT_MAX);
        }
        need(at > start);
        return value;
    }

    /// Behind a backslash.
    private RegexSet escape() {
        RegexSet.Builder set = new RegexSet.Builder();
        int character = next();
        switch (character) {
            case 'd', 's', 'w' -> addClass(set, className(character));
            case 'D', 'S', 'W' -> {
                addClass(set, className(character + 32));
                return set.buildNegated();
            }
            default -> add(set, escaped(character));
        }
        return set.build();
    }

    private static String className(int letter) {
        return letter == 'd' ? "digit" : letter == 's' ? "space" : "word";
    }

    private static int escaped(int character) {
        return switch (character) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'f' -> '\f';
            case 'v' -> 0x0b;
            default -> {
                need(character < 0x80 && !isDigit(character) && !LetterCases.isLetter((char) character));
                yield character;
            }
        };
    }

    private RegexSet bracket() {
        boolean negated = peek() == '^';
        if (negated) {
            at++;
        }
        RegexSet.Builder set = new RegexSet.Builder();
        int start = at;
        while (peek() != ']' || at == start) {
            need(at < pattern.length());
            if (peek() == '-') {
                // A hyphen is itself only at either end.
                need((at == start && !pattern.startsWith("--", at)) || pattern.startsWith("-]", at));
            }
            member(set);
        }
        at++;
        return negated ? set.buildNegated() : set.build();
    }

    private void member(RegexSet.Builder set) {
        if (pattern.startsWith("[:", at)) {
            int end = pattern.indexOf(":]", at);
            need(end > 0);
            String name = pattern.substring(at + 2, end);
            need(!name.equals("word"));
            addClass(set, name);
            at = end + 2;
            return;
        }
        if (peek() == '\\' && at + 1 < pattern.length() && "dsw".indexOf(pattern.charAt(at + 1)) >= 0) {
            addClass(set, className(pattern.charAt(at + 1)));
            at += 2;
            return;
        }
        int first = bracketCharacter();
        if (peek() != '-' || pattern.startsWith("-]", at)) {
            add(set, first);
            return;
        }
        at++;
        int last = bracketCharacter();
        need(first <= last && last < 0x80 && peek() != '-');
        for (int character = first; character <= last; character++) {
            add(set, character);
        }
    }

    private int bracketCharacter() {
        need(!pattern.startsWith("[.", at) && !pattern.startsWith("[=", at) && !pattern.startsWith("[:", at));
        int character = next();
        return character == '\\' ? escaped(next()) : character;
    }

    private void add(RegexSet.Builder set, int character) {
        set.add(character);
        if (letters == Regex.LetterMatching.CASELESS) {
            if (character < 0x80) {
                set.add(LetterCases.lower((char) character));
                set.add(LetterCases.upper((char) character));
            } else {
                need(LetterCases.isKept(character, collation));
            }
        }
    }

    private void addClass(RegexSet.Builder set, String name) {
        usesClasses = true;
        switch (name) {
            case "digit" -> set.add('0', '9');
            case "space" -> {
                set.add(' ');
                set.add('\t', '\r');
            }
            case "alpha", "alnum", "word" -> {
                addLetters(set, 'a');
                addLetters(set, 'A');
            }
            case "lower", "upper" -> {
                addLetters(set, name.equals("lower") ? 'a' : 'A');
                if (letters == Regex.LetterMatching.CASELESS) {
                    addLetters(set, name.equals("lower") ? 'A' : 'a');
                }
            }
            default -> throw new UndecidableException();
        }
        if (name.equals("alnum") || name.equals("word")) {
            set.add('0', '9');
        }
        if (name.equals("word")) {
            set.add('_');
        }
    }

    private static void addLetters(RegexSet.Builder set, char first) {
        set.add(first, (char) (first + 25));
    }

    private static boolean isDigit(int character) {
        return character >= '0' && character <= '9';
    }

    private char peek() {
        return at < pattern.length() ? pattern.charAt(at) : 0;
    }

    private int next() {
        need(at < pattern.length());
        int character = pattern.codePointAt(at);
        at += Character.charCount(character);
        return character;
    }

    private static void need(boolean known) {
        if (!known) {
            throw new UndecidableException();
        }
    }
}
