package sluice.server.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `sluice lint` as a person uses it, on the demo's database.
class LintIT {
    @TempDir
    private Path scratch = Path.of("");

    private record Outcome(int status, String out, String err) {}

    private Outcome lint(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("lint"));
        command.addAll(List.of(arguments));
        try (DemoProcess process = DemoProcess.start(scratch, command.toArray(String[]::new))) {
            int status = process.exitStatus();
            return new Outcome(status, process.output(), process.errors());
        }
    }

    @Test
    void the_demo_is_looked_at_before_and_after_a_policy_that_asks_another_table() throws Exception {
        String data = scratch.resolve("data").toString();
        try (DemoProcess demo = DemoProcess.start(scratch, "demo", "--port", "0", "--json", "--data", data)) {
            JsonNode facts = demo.facts();
            String url = facts.path("postgres_url").asText();
            String password = URI.create(url).getUserInfo().split(":", 2)[1];
            DemoTools.sql(Path.of(data), "alice", "insert into notes (title) values ('mark-of-a-row-value')");

            Outcome clean = lint("--database-url", url, "--json");
            assertThat(clean.status()).as(clean.out() + clean.err()).isZero();
            assertThat(clean.err()).isEmpty();
            JsonNode report = new ObjectMapper().readTree(clean.out());
            List<String> tiers = new ArrayList<>();
            report.get("tables")
                    .forEach(table -> tiers.add(table.get("table").asText() + " "
                            + table.get("role").asText() + " "
                            + table.get("tier").asText()));
            assertThat(tiers)
                    .containsExactly(
                            "auth.sessions anon null",
                            "auth.sessions authenticated null",
                            "auth.sessions service_role null",
                            "public.notes anon null",
                            "public.notes authenticated B",
                            "public.notes service_role A",
                            "public.posts anon B",
                            "public.posts authenticated B",
                            "public.posts service_role A");

            DemoTools.sql(
                    Path.of(data),
                    "owner",
                    "create policy by_post on notes for select to authenticated"
                            + " using (exists (select from posts p where p.author_id = owner_id))");
            Outcome slow = lint("--database-url", url);
            assertThat(slow.status()).isEqualTo(1);
            assertThat(slow.err()).isEmpty();
            assertThat(slow.out().lines().toList())
                    .anyMatch(line -> line.matches(" public\\.notes +\\| authenticated +\\| C +\\| .*a sub-select.*"))
                    .contains("HIGH  tier_c_policy  public.notes  policy \"by_post\"")
                    .last()
                    .asString()
                    .startsWith("3 tables: 1 of severity high");
            for (String out : List.of(clean.out(), slow.out())) {
                assertThat(out).doesNotContain(password, "mark-of-a-row-value", "eyJ");
            }

            Outcome refused = lint("--database-url", url.replace(password, "wrong-password"));
            assertThat(refused.status()).isEqualTo(2);
            assertThat(refused.out()).isEmpty();
            assertThat(refused.err().lines())
                    .singleElement()
                    .asString()
                    .startsWith("sluice: catalog_unavailable: ")
                    .contains("28P01")
                    .doesNotContain("wrong-password");
        }
    }
}
