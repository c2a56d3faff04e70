package sluice.server.postgres.wal;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import sluice.core.dispatch.Notice;
import sluice.server.postgres.PinnedSettings;
import sluice.server.postgres.PostgresUrl;

/// Says what the creation of the slot waits for, since the reader's thread can only wait for it.
///
/// {@link #check} is called about once a second, by any one thread at a time that may wait for a query.
public final class SlotCreationWatch {
    private static final long FIRST_NANOS = Duration.ofSeconds(10).toNanos();
    private static final long AGAIN_NANOS = Duration.ofMinutes(1).toNanos();

    private final WalReader reader;
    private final PostgresUrl url;
    private final ReaderClock clock;
    private final Consumer<Notice> notices;
    private long said;

    /// @param url an ordinary session of the replicating role
    public SlotCreationWatch(WalReader reader, PostgresUrl url, ReaderClock clock, Consumer<Notice> notices) {
        this.reader = reader;
        this.url = url.withoutReplication();
        this.clock = clock;
        this.notices = notices;
    }

    public void check() {
        WalReader.SlotCreation creation = reader.creation();
        if (creation == null) {
            said = 0;
            return;
        }
        long waited = clock.nanos() - creation.sinceNanos();
        if (waited < FIRST_NANOS + said * AGAIN_NANOS) {
            return;
        }
        said++;
        notices.accept(new Notice(
                Notice.Level.WARN,
                "creating the replication slot is waiting for transactions open when it started",
                List.of(
                        "waited",
                        Duration.ofNanos(waited).toSeconds() + "s",
                        "blocking_pids",
                        blockingPids(creation.backendPid()))));
    }

    private String blockingPids(int backendPid) {
        try (Connection connection = PinnedSettings.connect(url);
                PreparedStatement ask = connection.prepareStatement("SELECT pg_catalog.pg_blocking_pids(?)::text")) {
            ask.setInt(1, backendPid);
            try (ResultSet row = ask.executeQuery()) {
                return row.next() ? String.valueOf(row.getString(1)) : "";
            }
        } catch (SQLException e) {
            return "unknown (" + e.getSQLState() + ")";
        }
    }
}
