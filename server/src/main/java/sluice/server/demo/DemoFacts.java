package sluice.server.demo;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;

/// Everything a person or a script needs to use a running demo.
///
/// @param postgresUrl of the database's owner, password included
public record DemoFacts(String baseUrl, String postgresUrl, DemoTokens tokens, Path data) {
    private static final String SUBSCRIBE = "{\"subscriptions\":[{\"sub\":\"notes\",\"shape\":{\"table\":\"notes\"}}]}";

    /// One line: `base_url`, `postgres_url`, `tokens`, `data`.
    public String json() {
        ObjectNode json = new JsonMapper().createObjectNode();
        json.put("base_url", baseUrl);
        json.put("postgres_url", postgresUrl);
        json.putObject("tokens")
                .put("alice", tokens.alice())
                .put("bob", tokens.bob())
                .put("carol", tokens.carol())
                .put("service_role", tokens.serviceRole());
        json.put("data", data.toString());
        return json.toString();
    }

    /// The same for a person, with commands to paste.
    public String text() {
        return """

                Sluice runs on %1$s, PostgreSQL's data lies in %2$s

                In a browser:
                  %1$s/

                alice's stream, in a terminal of its own:
                  %3$s

                bob's stream, in another:
                  %4$s

                Write rows from a third:
                  ./sluice sql%5$s --as alice "insert into notes (title) values ('hello from alice')"
                  ./sluice sql%5$s --as bob "insert into notes (title) values ('hello from bob')"
                  ./sluice sql%5$s --as alice "select * from notes"

                Ctrl-C stops everything; the rows stay for the next start.
                """.formatted(baseUrl, data, curl(tokens.alice()), curl(tokens.bob()), dataOption());
    }

    private String curl(String token) {
        return "curl -N " + baseUrl + DemoOptions.PREFIX + "/stream -H 'Content-Type: application/json'"
                + " -H 'Authorization: Bearer " + token + "' -d '" + SUBSCRIBE + "'";
    }

    private String dataOption() {
        return data.equals(DemoOptions.defaultData()) ? "" : " --data " + quoted(data.toString());
    }

    private static String quoted(String word) {
        return word.matches("[A-Za-z0-9_./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }

    /// Neither tokens nor the password are printed by accident.
    @Override
    public String toString() {
        return "DemoFacts[" + baseUrl + "]";
    }
}
