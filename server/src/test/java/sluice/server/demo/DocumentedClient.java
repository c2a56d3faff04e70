package sluice.server.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import sluice.server.postgres.console.StatementResult;
import sluice.server.wire.PageExamples;

/// The client of the docs, as it stands there, beside the demo's page: what it keeps must be what its user may read.
final class DocumentedClient {
    /// Requests go through here, so that a connection can be lost.
    private static final String LOSABLE = """
            globalThis.asked = [];
            globalThis.lost = new AbortController();
            const plain = globalThis.fetch;
            globalThis.fetch = (url, options) => {
              const entry = options.body && JSON.parse(options.body).subscriptions?.[0];
              if (entry?.sub !== "rows") return plain(url, options);
              asked.push(entry);
              lost = new AbortController();
              return plain(url, { ...options, signal: AbortSignal.any([options.signal, lost.signal]) });
            };
            """;

    private final Browser browser;

    private DocumentedClient(Browser browser) {
        this.browser = browser;
    }

    static DocumentedClient start(Browser browser, String token) throws Exception {
        PageExamples.Example code = PageExamples.of("clients.md").getFirst();
        assertThat(code.kind()).isEqualTo("js");
        browser.evaluate(LOSABLE + code.text() + """
                globalThis.copy = new Map();
                globalThis.ended = "";
                follow({
                  url: "/sluice/v1",
                  token: async () => "$TOKEN$",
                  shape: { table: "notes", ops: ["*"], transitions: true },
                  key: (record) => record.id,
                  rows: copy,
                  signal: new AbortController().signal,
                }).catch((problem) => { ended = String(problem); });
                0
                """.replace("$TOKEN$", token));
        return new DocumentedClient(browser);
    }

    /// Its connection breaks.
    void cut() throws Exception {
        browser.evaluate("lost.abort(); 0");
    }

    /// Whether its last request was to go on where it was.
    boolean resumed() throws Exception {
        return browser.evaluate("Boolean(asked.at(-1).resume)").asBoolean();
    }

    void awaitTitle(String title) throws Exception {
        await("[...copy.values()].some((row) => row.title === '" + title + "')");
    }

    private void await(String condition) throws Exception {
        try {
            browser.await(condition);
        } catch (AssertionError e) {
            throw new AssertionError(
                    browser.evaluate("JSON.stringify({ ended, asked, copy: [...copy] })")
                            .asText(),
                    e);
        }
    }

    /// @param rows what its user may read, an object of titles by id
    void awaitEqual(List<StatementResult> rows) throws Exception {
        String expected = String.valueOf(rows.getLast().rows().getFirst().getFirst());
        await("((rows) => copy.size === Object.keys(rows).length"
                + " && [...copy].every(([id, row]) => rows[id] === row.title))(" + expected + ")");
        assertThat(browser.evaluate("ended").asText()).isEmpty();
        assertThat(expected).contains("while the copy was away");
    }
}
