package sluice.core.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import sluice.core.value.Oid;

class BanTimeTest {
    @Test
    void a_moment_is_read_as_the_log_prints_it() {
        Instant moment = Instant.parse("2026-03-01T12:00:00.25Z");
        assertThat(BanTime.parse(Oid.TIMESTAMPTZ, "2026-03-01 12:00:00.25+00")).isEqualTo(moment);
        assertThat(BanTime.parse(Oid.TIMESTAMP, "2026-03-01 12:00:00.25")).isEqualTo(moment);
        assertThat(BanTime.parse(Oid.DATE, "2026-03-01")).isEqualTo(Instant.parse("2026-03-01T00:00:00Z"));
        assertThat(BanTime.parse(Oid.TIMESTAMPTZ, "0044-03-15 00:00:00+00 BC")).isBefore(moment);
        assertThat(BanTime.parse(Oid.TIMESTAMPTZ, "294276-12-31 23:59:59.999999+00"))
                .isAfter(moment);
    }

    @Test
    void infinity_never_ends_and_minus_infinity_never_was() {
        for (int type : new int[] {Oid.TIMESTAMPTZ, Oid.TIMESTAMP, Oid.DATE}) {
            assertThat(BanTime.parse(type, "infinity")).isEqualTo(BanTime.FOREVER);
            assertThat(BanTime.parse(type, "-infinity")).isEqualTo(Instant.MIN);
        }
    }

    @Test
    void what_cannot_be_read_is_a_ban() {
        assertThat(BanTime.parse(Oid.TIMESTAMPTZ, "next week")).isEqualTo(BanTime.FOREVER);
        assertThat(BanTime.parse(Oid.TIMESTAMPTZ, "2026-03-01 14:00:00+02")).isEqualTo(BanTime.FOREVER);
        assertThat(BanTime.parse(Oid.TIMESTAMPTZ, "")).isEqualTo(BanTime.FOREVER);
        assertThat(BanTime.parse(Oid.BOOL, "t")).isEqualTo(BanTime.FOREVER);
        assertThat(BanTime.isOne(Oid.BOOL)).isFalse();
    }
}
