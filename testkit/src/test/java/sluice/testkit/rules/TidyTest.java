package sluice.testkit.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TidyTest {
    @Test
    void sources_of_testkit_keep_the_rules() {
        assertThat(Tidy.violations("testkit")).isEmpty();
    }

    @Test
    void sources_of_bench_keep_the_rules() {
        assertThat(Tidy.violations("bench")).isEmpty();
    }

    @Test
    void a_note_to_do_later_is_found_in_comments_only() {
        assertThat(main("// TODO: later\n")).hasSize(1);
        assertThat(main("class A { String text = \"TODO\"; }\n")).isEmpty();
    }

    @Test
    void sleeping_is_found_in_tests_only() {
        String sleeper = "class A { void a() throws Exception { Thread.sleep(1); } }\n";
        assertThat(test(sleeper)).hasSize(1);
        assertThat(main(sleeper)).isEmpty();
    }

    @Test
    void a_suppression_without_a_reason_is_found() {
        assertThat(main("class A {\n    @SuppressWarnings(\"x\")\n    int a;\n}\n"))
                .hasSize(1);
        assertThat(main("class A {\n    @SuppressWarnings(\"x\") // because\n    int a;\n}\n"))
                .isEmpty();
    }

    @Test
    void sets_without_an_order_are_found_in_core() {
        assertThat(main("package sluice.core.a;\nclass A { Object o = Set.of(1, 2); }\n"))
                .hasSize(1);
        assertThat(main("package sluice.core.a;\nclass A { Object o = EnumSet.of(X); }\n"))
                .isEmpty();
        assertThat(main("package sluice.server.a;\nclass A { Object o = Set.of(1, 2); }\n"))
                .isEmpty();
    }

    @Test
    void a_default_beside_patterns_or_enum_constants_is_found() {
        assertThat(main(switchOver("case Text t -> 1;"))).hasSize(1);
        assertThat(main(switchOver("case VISIBLE -> 1;"))).hasSize(1);
    }

    @Test
    void a_default_beside_numbers_and_texts_is_fine() {
        assertThat(main(switchOver("case 'B' -> 1;"))).isEmpty();
        assertThat(main(switchOver("case \"b\" -> 1;"))).isEmpty();
        assertThat(main("class A { static final int BEGIN = 1; int a(int o) { return switch (o) {"
                        + " case BEGIN -> 1; default -> 0; }; } }\n"))
                .isEmpty();
    }

    @Test
    void a_method_of_61_lines_is_one_too_long() {
        assertThat(main(method(SyntaxRules.METHOD_LINES_MAX))).isEmpty();
        assertThat(main(method(SyntaxRules.METHOD_LINES_MAX + 1))).hasSize(1);
    }

    private static String method(int lines) {
        return "class A {\n    void a() {\n" + "        b();\n".repeat(lines - 2) + "    }\n}\n";
    }

    private static String switchOver(String branch) {
        return "class A { int a(Object o) { return switch (o) { " + branch + " default -> 0; }; } }\n";
    }

    private static List<Violation> main(String text) {
        return check(SourceFile.of(Path.of("A.java"), SourceFile.Kind.MAIN, text));
    }

    private static List<Violation> test(String text) {
        return check(SourceFile.of(Path.of("A.java"), SourceFile.Kind.TEST, text));
    }

    private static List<Violation> check(SourceFile file) {
        return Stream.concat(TextRules.check(file).stream(), SyntaxRules.check(file).stream())
                .toList();
    }
}
