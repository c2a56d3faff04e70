package sluice.server.app;

import java.util.List;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// The table most tests of faults write to: notes, each of which its owner alone may see.
final class Notes {
    private Notes() {}

    /// A new database with the table and its publication.
    static PostgresDatabase database(String name) {
        return database(PostgresCluster.of(PostgresCluster.NEWEST), name);
    }

    static PostgresDatabase database(PostgresCluster cluster, String name) {
        PostgresDatabase database = cluster.createDatabase(name).withStandardRoles();
        database.execute(
                "CREATE TABLE notes (id int PRIMARY KEY, owner_id uuid NOT NULL, title text)",
                "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON notes FOR SELECT TO authenticated USING (owner_id = (SELECT auth.uid()))",
                "CREATE PUBLICATION sluice FOR TABLE notes");
        return database;
    }

    static void insert(PostgresDatabase database, int id, String owner) {
        database.execute("INSERT INTO notes VALUES (" + id + ", '" + owner + "', 'x')");
    }

    /// Opens a stream of the subject's notes and reads its `ready`.
    static SseClient open(RunningSluice sluice, String subject) {
        SseClient client = sluice.stream(sluice.token(subject), RunningSluice.shape("mine", "notes", ""));
        SseEvent ready = client.await("ready");
        if (!ready.data().contains("\"ok\":true")) {
            throw new AssertionError("refused: " + ready.data());
        }
        return client;
    }

    static int id(SseEvent change) {
        return change.json().get("record").get("id").asInt();
    }

    /// The ids of every change up to and with the given one, in the order of arrival.
    static List<Integer> idsUntil(SseClient client, int last) {
        client.await(event -> event.is("change") && id(event) == last);
        return ids(client);
    }

    /// The ids of every change received so far, in the order of arrival.
    static List<Integer> ids(SseClient client) {
        return client.received().stream()
                .filter(event -> event.is("change"))
                .map(Notes::id)
                .toList();
    }

    static String slot(PostgresDatabase database) {
        return "sluice_" + database.name();
    }

    /// Ends the session that streams from the slot, if there is one.
    static void cutReplication(PostgresDatabase database) {
        database.rows(
                "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = ? AND active",
                slot(database));
    }
}
