package sluice.bench;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

/// The tables the load reads: `bench_1` to `bench_7` with rows of one owner each, `bench_feed` with rows for everyone
/// in a room.
///
/// `n` numbers the rows of a table from 1 in the order of their commits; `t` is when the writer began, in
/// microseconds since the epoch. The load client checks and measures by these two.
final class Tables {
    /// How many tables of the first kind there are.
    static final int COUNT = 7;

    /// Its policy is decided in process.
    static final String FEED = "bench_feed";

    /// Its policy reads another table.
    static final String ASKED = "bench_asked";

    static final int ROOM = 1;

    private static final String OWNED = """
        CREATE TABLE public.bench_<number> (
          n bigint PRIMARY KEY, owner_id uuid NOT NULL, t bigint NOT NULL, body text NOT NULL);
        CREATE INDEX ON public.bench_<number> (owner_id);
        ALTER TABLE public.bench_<number> ENABLE ROW LEVEL SECURITY;
        CREATE POLICY bench_<number>_read ON public.bench_<number> FOR SELECT TO authenticated
          USING (owner_id = (SELECT auth.uid()));
        GRANT SELECT ON public.bench_<number> TO authenticated;
        ALTER PUBLICATION sluice ADD TABLE public.bench_<number>;
        """;

    /// Of the namespace that is declared by default.
    static final String CHANNEL = "room:bench";

    private static final String SHARED = """
        CREATE TABLE public.<table> (
          n bigint PRIMARY KEY, room_id bigint NOT NULL, author_id uuid NOT NULL, visibility text NOT NULL,
          t bigint NOT NULL);
        CREATE INDEX ON public.<table> (room_id);
        ALTER TABLE public.<table> ENABLE ROW LEVEL SECURITY;
        CREATE POLICY <table>_read ON public.<table> FOR SELECT TO authenticated USING (<rule>);
        GRANT SELECT ON public.<table> TO authenticated;
        ALTER PUBLICATION sluice ADD TABLE public.<table>;
        """;

    private static final String ROOMS = """
        CREATE TABLE public.bench_rooms (id bigint PRIMARY KEY, open boolean NOT NULL);
        INSERT INTO public.bench_rooms VALUES (1, true);
        GRANT SELECT ON public.bench_rooms TO authenticated;
        """;

    private Tables() {}

    static void create(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (int table = 1; table <= COUNT; table++) {
                statement.execute(OWNED.replace("<number>", Integer.toString(table)));
            }
            statement.execute(shared(FEED, "visibility = 'everyone' OR author_id = (SELECT auth.uid())"));
            statement.execute(ROOMS);
            statement.execute(shared(
                    ASKED,
                    "EXISTS (SELECT FROM bench_rooms r WHERE r.id = room_id AND r.open AND auth.uid() IS NOT NULL)"));
        }
    }

    private static String shared(String table, String rule) {
        return SHARED.replace("<table>", table).replace("<rule>", rule);
    }

    /// The body of a request for the rows of one owner.
    ///
    /// @param shapes one a table
    static String ownedRequest(UUID owner, int shapes) {
        StringBuilder subscriptions = new StringBuilder();
        for (int table = 1; table <= shapes; table++) {
            subscriptions
                    .append(table == 1 ? "" : ",")
                    .append(
                            "{\"sub\":\"own-%1$d\",\"shape\":{\"table\":\"bench_%1$d\",\"filter\":\"owner_id=eq.%2$s\"}}"
                                    .formatted(table, owner));
        }
        return "{\"subscriptions\":[" + subscriptions + "]}";
    }

    /// The body of a request to join the channel.
    static String channelRequest() {
        return "{\"subscriptions\":[{\"sub\":\"said\",\"channel\":\"" + CHANNEL + "\"}]}";
    }

    /// The body of a request for the room's rows of a table.
    static String roomRequest(String table) {
        return "{\"subscriptions\":[{\"sub\":\"feed\",\"shape\":{\"table\":\"" + table + "\",\"filter\":\"room_id=eq."
                + ROOM + "\",\"ops\":[\"INSERT\"]}}]}";
    }
}
