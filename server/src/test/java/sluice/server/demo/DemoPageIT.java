package sluice.server.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The page in a real browser.
class DemoPageIT {
    @TempDir
    private Path scratch = Path.of("");

    @Test
    void the_page_shows_each_row_to_whom_the_policy_shows_it() throws Exception {
        boolean installed = Files.isExecutable(Browser.PROGRAM);
        if (!installed) {
            System.err.println("the page is not tested: " + Browser.PROGRAM + " is not installed");
        }
        assumeTrue(installed, "chromium is not installed");
        Path data = scratch.resolve("data");
        try (DemoProcess demo = DemoProcess.start(scratch, "demo", "--port", "0", "--json", "--data", data.toString());
                Browser browser = Browser.start(Files.createDirectories(scratch.resolve("profile")))) {
            browser.visit(demo.facts().path("base_url").asText() + "/");
            for (String person : new String[] {"alice", "bob"}) {
                browser.await(panel(person) + "?.querySelector('.state').dataset.state === 'live'");
                browser.await(panel(person) + ".querySelector('.tier').textContent === 'B'");
            }
            browser.await("document.getElementById('sql').textContent.includes('auth.uid()')");
            DocumentedClient client = DocumentedClient.start(
                    browser, demo.facts().path("tokens").path("alice").asText());
            writesGoToTheirOwner(browser);
            buttonsUpdateAndDelete(browser);
            theRestrictivePolicyHidesWhatIsDone(browser);
            client.awaitTitle("still open");
            write(browser, "alice", "the copy is live", false);
            client.awaitTitle("the copy is live");
            client.cut();
            write(browser, "alice", "while the copy was away", false);
            client.awaitTitle("while the copy was away");
            assertThat(client.resumed()).isTrue();
            everyoneReads(browser);
            client.awaitEqual(
                    DemoTools.sql(data, "alice", "select coalesce(jsonb_object_agg(id, title), '{}') from notes"));
            assertThat(browser.complaints()).isEmpty();
        }
    }

    private static void writesGoToTheirOwner(Browser browser) throws Exception {
        String hostile = "<img src=x onerror=alert(1)> <b>alice</b>";
        write(browser, "alice", hostile, false);
        browser.await(shows("alice", hostile));
        write(browser, "bob", "bob's own", false);
        browser.await(shows("bob", "bob's own"));
        assertThat(browser.evaluate(shows("bob", hostile)).asBoolean()).isFalse();
        assertThat(browser.evaluate(shows("alice", "bob's own")).asBoolean()).isFalse();
        assertThat(browser.evaluate("document.querySelectorAll('.rows img, .rows b, .log img, .log b').length")
                        .asInt())
                .as("elements made of row values")
                .isZero();
        browser.await("/^[0-9]+ ms$/.test(" + row("alice", hostile) + ".querySelector('.delay').textContent)");
    }

    private static void buttonsUpdateAndDelete(Browser browser) throws Exception {
        browser.evaluate(row("bob", "bob's own") + ".querySelector('.toggle').click()");
        browser.await(row("bob", "bob's own") + ".classList.contains('done')");
        browser.evaluate(row("bob", "bob's own") + ".querySelector('.delete').click()");
        browser.await("!(" + row("bob", "bob's own") + ")");
    }

    private static void theRestrictivePolicyHidesWhatIsDone(Browser browser) throws Exception {
        choose(browser, "undone");
        browser.await("document.getElementById('sql').textContent.includes('AS RESTRICTIVE')");
        write(browser, "alice", "hidden", true);
        write(browser, "alice", "still open", false);
        browser.await(shows("alice", "still open"));
        assertThat(browser.evaluate(shows("alice", "hidden")).asBoolean()).isFalse();
    }

    private static void everyoneReads(Browser browser) throws Exception {
        choose(browser, "everyone");
        browser.await("document.getElementById('sql').textContent.includes('(true)')");
        String title = writtenUntilBobSeesIt(browser);
        browser.evaluate(row("bob", title) + ".querySelector('.delete').click()");
        browser.await(panel("bob") + ".querySelector('.message').textContent.includes('bob may not change this row')");
        assertThat(browser.evaluate(shows("alice", title)).asBoolean()).isTrue();
    }

    /// A right that widens shows nothing committed before the stream has passed the catalog that says so, so
    /// the first rows after the switch may be withheld; one of the next must arrive.
    private static String writtenUntilBobSeesIt(Browser browser) throws Exception {
        for (int attempt = 1; attempt <= 10; attempt++) {
            String title = "for all " + attempt;
            write(browser, "alice", title, false);
            browser.await(shows("alice", title));
            long deadline = System.nanoTime() + Duration.ofSeconds(2).toNanos();
            while (System.nanoTime() - deadline < 0) {
                if (browser.evaluate(shows("bob", title)).asBoolean()) {
                    return title;
                }
            }
        }
        throw new AssertionError("bob sees no row that everyone may read");
    }

    private static void choose(Browser browser, String policy) throws Exception {
        browser.evaluate("document.querySelector('input[name=policy][value=" + policy + "]').click()");
    }

    private static void write(Browser browser, String person, String title, boolean done) throws Exception {
        String form = panel(person) + ".querySelector('form')";
        browser.evaluate(panel(person) + ".querySelector('.message').textContent = ''");
        browser.evaluate(form + ".title.value = " + quoted(title));
        browser.evaluate(form + ".done.checked = " + done);
        browser.evaluate(form + ".querySelector('button').click()");
        browser.await(panel(person) + ".querySelector('.message').textContent === 'INSERT 0 1'");
    }

    private static String panel(String person) {
        return "document.querySelector('[data-person=" + person + "]')";
    }

    private static String row(String person, String title) {
        return "[..." + panel(person) + ".querySelectorAll('.rows li')].find((row) => row.querySelector('.title')"
                + ".textContent === " + quoted(title) + ")";
    }

    private static String shows(String person, String title) {
        return "Boolean(" + row(person, title) + ")";
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }
}
