package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.diagnostics.Finding;
import sluice.core.dispatch.Notice;
import sluice.core.wal.SlotName;
import sluice.server.postgres.query.OldestTransaction;
import sluice.server.postgres.query.SlotStatus;

class RetentionWatchTest {
    private final List<Notice> notices = new ArrayList<>();
    private int asked;
    private @Nullable OldestTransaction oldest;
    private final RetentionWatch watch = new RetentionWatch(
            new SlotName("sluice"),
            () -> {
                asked++;
                return oldest;
            },
            notices::add);

    private static SlotStatus slot(long retained, long lag, @Nullable Long safe) {
        return new SlotStatus(null, retained, lag, safe, SlotStatus.Activity.ACTIVE, "reserved");
    }

    private static String text(Notice notice) {
        return notice.level() + " " + notice.message().replaceAll(";.*", "") + " " + notice.fields();
    }

    @Test
    void half_is_a_warning_once_and_four_fifths_an_error_once_and_under_two_fifths_is_told() {
        watch.look(slot(499, 0, 501L));
        assertThat(notices).isEmpty();
        assertThat(watch.finding()).isNull();
        assertThat(asked).isZero();

        watch.look(slot(500, 400, 500L));
        watch.look(slot(600, 400, 400L));
        assertThat(notices).hasSize(1);
        assertThat(text(notices.getFirst()))
                .isEqualTo("WARN replication slot nears max_slot_wal_keep_size [slot, sluice, share, 0.50,"
                        + " retained_bytes, 500, safe_wal_bytes, 500, unconfirmed_bytes, 400]");
        Finding finding = Objects.requireNonNull(watch.finding());
        assertThat(finding.code()).isEqualTo("slot_wal_retention");
        assertThat(finding.severity()).isEqualTo(Finding.Severity.MEDIUM);
        assertThat(finding.reason()).contains("60%", "400 bytes");

        watch.look(slot(800, 800, 200L));
        watch.look(slot(900, 800, 100L));
        watch.look(slot(600, 600, 400L));
        assertThat(notices).hasSize(2);
        assertThat(notices.getLast().level()).isEqualTo(Notice.Level.ERROR);

        watch.look(slot(400, 0, 600L));
        assertThat(notices).hasSize(2);
        assertThat(watch.finding()).isNotNull();
        watch.look(slot(399, 0, 601L));
        assertThat(text(notices.getLast()))
                .startsWith("INFO replication slot is back under half of max_slot_wal_keep_size");
        assertThat(watch.finding()).isNull();

        watch.look(slot(500, 500, 500L));
        assertThat(notices).hasSize(4);
    }

    @Test
    void a_transaction_that_is_open_is_named_with_the_sql_that_ends_it() {
        oldest = new OldestTransaction("session 17", "SELECT pg_catalog.pg_terminate_backend(17);");
        watch.look(slot(900, 10, 100L));
        assertThat(notices.getFirst().fields()).containsSubsequence("held_by", "session 17");
        Finding finding = Objects.requireNonNull(watch.finding());
        assertThat(finding.severity()).isEqualTo(Finding.Severity.HIGH);
        assertThat(finding.reason()).contains("90%", "session 17");
        assertThat(finding.remedy()).isEqualTo("SELECT pg_catalog.pg_terminate_backend(17);");
    }

    @Test
    void without_a_limit_there_is_nothing_to_near() {
        watch.look(slot(Long.MAX_VALUE / 2, 0, null));
        assertThat(notices).isEmpty();
        assertThat(watch.finding()).isNull();
    }

    @Test
    void a_slot_that_keeps_all_it_may_is_told_of() {
        watch.look(slot(1_000, 1_000, 0L));
        assertThat(notices.getFirst().fields()).containsSubsequence("share", "1.00");
    }
}
