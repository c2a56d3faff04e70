package sluice.server.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import sluice.core.session.Identity;
import sluice.server.postgres.console.Actor;
import sluice.server.postgres.console.StatementException;
import sluice.server.postgres.console.StatementResult;

/// What the page can ask for: read rows, write one, switch the policy. Reads and writes run under the caller's role
/// and claims, so PostgreSQL decides about them; the policy is switched as the owner, for any caller with a valid
/// token.
final class DemoActions {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final DemoDatabase database;

    DemoActions(DemoDatabase database) {
        this.database = database;
    }

    /// @param status of HTTP
    record Answer(int status, JsonNode body) {}

    /// `{"rows": [...]}`: the newest notes that the caller may read.
    Answer rows(Identity caller) {
        return answered(() -> {
            JsonNode rows = JSON.readTree(database.rows(actor(caller)));
            return JSON.createObjectNode().set("rows", rows);
        });
    }

    /// Takes `{"action": "insert" | "update" | "delete", "id"?, "title"?, "done"?}`, answers `{"tag": "UPDATE 1"}`.
    Answer write(Identity caller, JsonNode request) {
        String id = request.path("id").asText("");
        String title = request.path("title").asText("");
        String done = Boolean.toString(request.path("done").asBoolean(false));
        return switch (request.path("action").asText("")) {
            case "insert" ->
                statement(
                        caller, "INSERT INTO public.notes (title, done) VALUES (?, ?::boolean)", List.of(title, done));
            case "update" ->
                statement(
                        caller,
                        "UPDATE public.notes SET title = ?, done = ?::boolean, updated_at = now() WHERE id = ?::bigint",
                        List.of(title, done, id));
            case "delete" -> statement(caller, "DELETE FROM public.notes WHERE id = ?::bigint", List.of(id));
            default -> refused(400, "bad_request", "action is insert, update or delete");
        };
    }

    /// Takes `{"policy": "owner" | "everyone" | "undone"}`, or `{}` to only ask. Answers `{"policy", "sql"}`.
    Answer policy(JsonNode request) {
        ReadPolicy wanted = ReadPolicy.named(request.path("policy").asText(""));
        if (wanted == null && request.has("policy")) {
            return refused(400, "bad_request", "policy is owner, everyone or undone");
        }
        return answered(() -> {
            if (wanted != null) {
                database.switchTo(wanted);
            }
            ReadPolicy current = database.policy();
            ObjectNode body = JSON.createObjectNode();
            body.put("policy", current == null ? "other" : current.label());
            return body.put("sql", database.policySql());
        });
    }

    private Answer statement(Identity caller, String sql, List<String> parameters) {
        return answered(() -> {
            StatementResult result = database.run(actor(caller), sql, parameters);
            return JSON.createObjectNode().put("tag", result.tag());
        });
    }

    private static Actor actor(Identity caller) {
        return new Actor.Caller(caller.role(), caller.claims());
    }

    private interface Work {
        JsonNode run() throws StatementException, JsonProcessingException;
    }

    /// PostgreSQL's own words go back to the caller, whose statement it was.
    private static Answer answered(Work work) {
        try {
            return new Answer(200, work.run());
        } catch (StatementException e) {
            return refused(409, "refused_by_postgresql", String.valueOf(e.getMessage()));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("PostgreSQL's JSON could not be read", e);
        }
    }

    private static Answer refused(int status, String code, String message) {
        return new Answer(status, JSON.createObjectNode().put("error", code).put("message", message));
    }
}
