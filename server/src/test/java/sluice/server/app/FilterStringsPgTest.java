package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.shape;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// Filters whose values look like syntax: each finds the row it names, live, and no other.
class FilterStringsPgTest {
    private static final List<String> ROWS = List.of(
            "a,b", "say \"hi\"", "f(1).jpg", "back\\slash", "", " lead", "a.b:c*d", "x,id=eq.1", "it's", "\"", "NULL");

    private static Map<String, List<Integer>> wellFormed() {
        Map<String, List<Integer>> filters = new LinkedHashMap<>();
        filters.put("t=eq.\"a,b\"", List.of(1));
        filters.put("t=eq.\"say \\\"hi\\\"\"", List.of(2));
        filters.put("t=in.(\"f(1).jpg\",\"a,b\")", List.of(1, 3));
        filters.put("t=eq.f(1).jpg", List.of(3));
        filters.put("t=eq.\"back\\\\slash\"", List.of(4));
        filters.put("t=eq.\"\"", List.of(5));
        filters.put("t=eq.\" lead\"", List.of(6));
        filters.put("t=eq.\"a.b:c*d\"", List.of(7));
        filters.put("t=eq.\"x,id=eq.1\"", List.of(8));
        filters.put("t=eq.it's", List.of(9));
        filters.put("t=eq.\"\\\"\"", List.of(10));
        filters.put("\"Full.Name\"=eq.n,t=eq.NULL", List.of(11));
        return filters;
    }

    private static final List<String> MALFORMED = List.of(
            "t=eq.\"a",
            "t=in.(a",
            "t=in.a)",
            "t=eq.\"a\"b",
            "t==a",
            "=eq.1",
            "t=",
            "t=eq.a,",
            "t=foo.a",
            "t=not.not.eq.a",
            "nope=eq.1",
            "t",
            "t=in.()",
            "t=eq.a,".repeat(101) + "t=eq.a");

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    @Test
    void b40_each_filter_selects_its_rows_and_a_malformed_one_harms_no_other() throws Exception {
        try (PostgresDatabase database = Notes.database("filter_strings")) {
            database.execute(
                    "CREATE TABLE b40 (id int PRIMARY KEY, \"Full.Name\" text, t text)",
                    "ALTER PUBLICATION sluice ADD TABLE b40");
            try (RunningSluice sluice = RunningSluice.on(database, Map.of("SLUICE_MAX_SHAPES_PER_STREAM", "100"));
                    SseClient alice = sluice.stream(sluice.token(ALICE), subscriptions())) {
                assertResults(alice.await("ready"));
                for (int i = 0; i < ROWS.size(); i++) {
                    database.rows("INSERT INTO b40 VALUES (?, 'n', ?) RETURNING id", i + 1, ROWS.get(i));
                }
                database.execute("INSERT INTO b40 VALUES (99, 'n', 'the last')");
                alice.await(event -> event.is("change") && Notes.id(event) == 99);
                assertThat(received(alice)).isEqualTo(wellFormed());
                try (SseClient late = sluice.stream(sluice.token(ALICE), String.join(",", snapshots()))) {
                    for (int i = 0; i < wellFormed().size(); i++) {
                        late.await("live");
                    }
                    assertThat(received(late)).isEqualTo(wellFormed());
                }
            }
        }
    }

    private static List<String> snapshots() {
        List<String> all = new ArrayList<>();
        for (String filter : wellFormed().keySet()) {
            all.add(shape(quotedLabel(filter), "b40", ",\"initial\":\"snapshot\",\"filter\":" + quoted(filter)));
        }
        return all;
    }

    private static String subscriptions() {
        List<String> all = new ArrayList<>();
        for (String filter : wellFormed().keySet()) {
            all.add(shape(quotedLabel(filter), "b40", ",\"filter\":" + quoted(filter)));
        }
        for (int i = 0; i < MALFORMED.size(); i++) {
            all.add(shape("bad" + i, "b40", ",\"filter\":" + quoted(MALFORMED.get(i))));
        }
        all.add(shape("last", "b40", ",\"filter\":\"id=eq.99\""));
        return String.join(",", all);
    }

    private static String quotedLabel(String filter) {
        return "good" + List.copyOf(wellFormed().keySet()).indexOf(filter);
    }

    private static void assertResults(SseEvent ready) {
        int good = 0;
        int bad = 0;
        for (var result : ready.json().get("subscriptions")) {
            String label = result.get("sub").asText();
            if (label.startsWith("bad")) {
                assertThat(result.get("ok").asBoolean()).as(result.toString()).isFalse();
                assertThat(result.get("error").get("code").asText())
                        .as(result.toString())
                        .isEqualTo("invalid_filter");
                bad++;
            } else {
                assertThat(result.get("ok").asBoolean()).as(result.toString()).isTrue();
                good++;
            }
        }
        assertThat(good).isEqualTo(wellFormed().size() + 1);
        assertThat(bad).isEqualTo(MALFORMED.size());
    }

    private static Map<String, List<Integer>> received(SseClient client) {
        List<String> filters = List.copyOf(wellFormed().keySet());
        Map<String, List<Integer>> ids = new LinkedHashMap<>();
        filters.forEach(filter -> ids.put(filter, new ArrayList<>()));
        for (SseEvent event : client.received()) {
            if (event.is("change") && Notes.id(event) != 99) {
                int filter = Integer.parseInt(event.json().get("sub").asText().substring(4));
                ids.getOrDefault(filters.get(filter), new ArrayList<>()).add(Notes.id(event));
            }
        }
        return ids;
    }
}
