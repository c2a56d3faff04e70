package sluice.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import sluice.testkit.rules.Repository;

/// `-Dsluice.docs=write` writes the files instead of comparing them.
class SettingsReferenceTest {
    private static final Path ROOT = Repository.root();

    @Test
    void the_reference_says_what_the_code_does() throws IOException {
        same(ROOT.resolve("docs/settings.md"), SettingsReference.markdown());
    }

    @Test
    void the_template_says_what_the_code_does() throws IOException {
        same(ROOT.resolve("deploy/sluice.env.example"), SettingsReference.environmentTemplate());
    }

    @Test
    void the_files_name_every_setting_and_no_other() throws IOException {
        List<String> known = new ArrayList<>();
        for (Setting setting : Setting.values()) {
            known.add(setting.variable());
        }
        for (String file : List.of("docs/settings.md", "deploy/sluice.env.example")) {
            Matcher named = Pattern.compile("SLUICE_[A-Z_]*[A-Z]").matcher(Files.readString(ROOT.resolve(file)));
            assertThat(named.results().map(MatchResult::group).distinct())
                    .as(file)
                    .containsExactlyInAnyOrderElementsOf(known);
        }
    }

    @Test
    void the_template_starts_the_server_as_it_is_and_with_every_default_uncommented() {
        for (String line : List.of("", "#")) {
            Map<String, String> environment = new HashMap<>();
            SettingsReference.environmentTemplate()
                    .lines()
                    .map(text -> text.replaceFirst("   # not yet$", ""))
                    .map(text -> text.startsWith(line + "SLUICE_") ? text.substring(line.length()) : text)
                    .filter(text -> text.startsWith("SLUICE_"))
                    .forEach(text -> environment.put(text.split("=", 2)[0], text.split("=", 2)[1]));
            assertThat(new SettingsReader(environment, SettingsReader.Place.here()).read())
                    .isNotNull();
        }
    }

    private static void same(Path file, String expected) throws IOException {
        if ("write".equals(System.getProperty("sluice.docs"))) {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.writeString(file, expected);
        }
        assertThat(Files.readString(file)).as("run with -Dsluice.docs=write").isEqualTo(expected);
    }
}
