package sluice.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sluice.testkit.rules.Tidy;

class TidyTest {
    @Test
    void sources_keep_the_rules() {
        assertThat(Tidy.violations("server")).isEmpty();
    }
}
