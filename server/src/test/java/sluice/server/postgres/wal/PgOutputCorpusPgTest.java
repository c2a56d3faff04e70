package sluice.server.postgres.wal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.pgoutput.PgOutputDecoder;
import sluice.core.pgoutput.PgOutputMessage;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// Every message that each server sends in each protocol version, decoded; with `-Dsluice.corpus=FILE` also written
/// down, which makes the decoder's test corpus.
class PgOutputCorpusPgTest {
    private static final String[] SCRIPT = {
        "INSERT INTO keyed VALUES (1, NULL, 'x', repeat('big', 700), 'happy', '2026-01-02 03:04:05+00'), (2, 2, '',"
                + " '', NULL, NULL)",
        "UPDATE keyed SET small = 5 WHERE id = 1",
        "UPDATE keyed SET id = 10 WHERE id = 1",
        "UPDATE keyed SET big = NULL WHERE id = 10",
        "DELETE FROM keyed WHERE id = 10",
        "INSERT INTO indexed VALUES (1, 'a', 'Grüße'), (2, 'b', NULL)",
        "UPDATE indexed SET code = 'c' WHERE id = 1",
        "DELETE FROM indexed WHERE id = 2",
        "INSERT INTO whole VALUES (1, repeat('y', 2100)), (2, NULL)",
        "UPDATE whole SET a = 3 WHERE a = 1",
        "DELETE FROM whole",
        "INSERT INTO parted VALUES (1, 'p')",
        "TRUNCATE keyed, whole RESTART IDENTITY CASCADE",
        "SELECT pg_logical_emit_message(true, 'sluice:room', 'inside')",
        "SELECT pg_logical_emit_message(false, 'sluice:room', 'alone')",
        "ALTER TABLE keyed ADD COLUMN extra int",
        "INSERT INTO keyed (id, extra) VALUES (7, 8)"
    };

    @Test
    void every_message_of_every_server_and_protocol_is_decoded() throws IOException {
        List<String> lines = new ArrayList<>();
        for (int major : PostgresCluster.MAJORS) {
            try (PostgresDatabase database = PostgresCluster.of(major).createDatabase("corpus")) {
                record(database, major, lines);
            }
        }
        String target = System.getProperty("sluice.corpus");
        if (target != null) {
            Files.write(Path.of(target), lines);
        }
    }

    private static void record(PostgresDatabase database, int major, List<String> lines) {
        database.execute(
                "CREATE TYPE mood AS ENUM ('happy', 'sad')",
                "CREATE TABLE keyed (id int PRIMARY KEY, small int, t text, big text, m mood, at timestamptz)",
                "ALTER TABLE keyed ALTER big SET STORAGE EXTERNAL",
                "CREATE TABLE indexed (id int, code text NOT NULL, v text)",
                "CREATE UNIQUE INDEX indexed_code ON indexed (code)",
                "ALTER TABLE indexed REPLICA IDENTITY USING INDEX indexed_code",
                "CREATE TABLE whole (a int, b text)",
                "ALTER TABLE whole ALTER b SET STORAGE EXTERNAL",
                "ALTER TABLE whole REPLICA IDENTITY FULL",
                "CREATE TABLE parted (id int PRIMARY KEY, v text) PARTITION BY RANGE (id)",
                "CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100)",
                "CREATE PUBLICATION corpus FOR ALL TABLES WITH (publish_via_partition_root = true)");
        int highest = major >= 16 ? 4 : 3;
        for (int protocol = 1; protocol <= highest; protocol++) {
            database.execute(
                    "SELECT pg_create_logical_replication_slot('corpus_" + major + "_" + protocol + "', 'pgoutput')");
        }
        database.execute(SCRIPT);
        database.execute(
                "SELECT pg_replication_origin_create('elsewhere')",
                "SELECT pg_replication_origin_session_setup('elsewhere')",
                "INSERT INTO whole VALUES (9, 'from elsewhere')",
                "SELECT pg_replication_origin_session_reset()",
                "SELECT pg_replication_origin_drop('elsewhere')");
        List<String> first = List.of();
        for (int protocol = 1; protocol <= highest; protocol++) {
            List<List<@Nullable String>> rows =
                    database.rows("SELECT encode(data, 'hex') FROM pg_logical_slot_get_binary_changes('corpus_" + major
                            + "_" + protocol
                            + "', NULL, NULL, 'proto_version', '" + protocol
                            + "', 'publication_names', 'corpus', 'messages', 'true')");
            assertThat(kinds(rows))
                    .as("PostgreSQL " + major + " protocol " + protocol)
                    .containsExactly(
                            "Begin",
                            "Commit",
                            "Delete",
                            "Insert",
                            "Message",
                            "Origin",
                            "Relation",
                            "Truncate",
                            "Type",
                            "Update");
            List<String> frames = new ArrayList<>();
            for (List<@Nullable String> row : rows) {
                frames.add(Objects.requireNonNull(row.getFirst()));
            }
            // with streaming off the version changes nothing that is sent
            if (protocol > 1) {
                assertThat(frames).isEqualTo(first);
            }
            first = frames;
        }
        for (String frame : first) {
            lines.add(major + " " + highest + " " + frame);
        }
    }

    private static SortedSet<String> kinds(List<List<@Nullable String>> rows) {
        PgOutputDecoder decoder = new PgOutputDecoder();
        SortedSet<String> kinds = new TreeSet<>();
        for (List<@Nullable String> row : rows) {
            byte[] frame = HexFormat.of().parseHex(Objects.requireNonNull(row.getFirst()));
            PgOutputMessage message = decoder.decode(frame, 0, frame.length);
            kinds.add(message.getClass().getSimpleName());
        }
        return kinds;
    }
}
