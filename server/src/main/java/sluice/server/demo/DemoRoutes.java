package sluice.server.demo;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.session.Identity;
import sluice.server.http.Answer;
import sluice.server.http.ExtraRoutes;
import sluice.server.jwks.JwksCache;
import sluice.server.jwks.JwksException;
import sluice.server.jwks.SigningAlgorithm;
import sluice.server.jwks.TokenRules;
import sluice.server.jwks.TokenVerifier;
import sluice.server.jwks.Verification;

/// The demo's page and what it asks for. Thread-safe; runs on the server's virtual threads.
///
/// Who may ask: only pages of this very server. `Host` must be a loopback name, so that another site cannot point its
/// own name here; requests are JSON, which a foreign page cannot send without being asked first; and what acts on
/// rows needs a token, verified as for a stream.
final class DemoRoutes implements ExtraRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int BODY_MAX = 16 * 1024;

    private static final String CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; "
            + "connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private final Map<String, Answer> files;
    private final DemoActions actions;
    private final TokenVerifier verifier;
    private final DemoTokens tokens;

    private DemoRoutes(DemoActions actions, TokenVerifier verifier, DemoTokens tokens) {
        this.actions = actions;
        this.verifier = verifier;
        this.tokens = tokens;
        this.files = new LinkedHashMap<>();
        files.put("/", file("index.html", "text/html; charset=utf-8"));
        files.put("/demo/demo.js", file("demo.js", "text/javascript; charset=utf-8"));
        files.put("/demo/demo.css", file("demo.css", "text/css; charset=utf-8"));
        files.put("/demo/icon.svg", file("icon.svg", "image/svg+xml"));
    }

    static DemoRoutes of(DemoDatabase database, DemoKey key, DemoTokens tokens) {
        byte[] keySet = key.keySet().getBytes(StandardCharsets.UTF_8);
        TokenRules rules = new TokenRules(
                SigningAlgorithm.ES256,
                null,
                DemoKey.AUDIENCE,
                Duration.ZERO,
                List.of(DemoTokens.USER_ROLE, DemoTokens.SERVICE_ROLE));
        try {
            JwksCache keys =
                    JwksCache.load(() -> keySet, SigningAlgorithm.ES256, Duration.ofDays(365), System::nanoTime);
            return new DemoRoutes(
                    new DemoActions(database), new TokenVerifier(rules, keys, InstantSource.system()), tokens);
        } catch (JwksException e) {
            throw new IllegalStateException("the demo's own key set was refused", e);
        }
    }

    @Override
    public @Nullable Answer answer(Request request) {
        Answer file = files.get(request.path());
        boolean action = request.path().startsWith("/demo/");
        if (file == null && !action) {
            return null;
        }
        if (!isLoopback(request.header("host"))) {
            return refused(403, "forbidden", "the demo answers on 127.0.0.1 and localhost only");
        }
        if (file != null) {
            return request.method().equals("GET") ? file : refused(405, "method_not_allowed", "use GET");
        }
        return act(request);
    }

    private @Nullable Answer act(Request request) {
        if (!request.method().equals("POST")) {
            return refused(405, "method_not_allowed", "use POST");
        }
        if (!isOwnPage(request) || !isJson(request.header("content-type"))) {
            return refused(403, "forbidden", "only this server's own page may ask, in JSON");
        }
        JsonNode body;
        try {
            body = request.body().length > BODY_MAX ? null : JSON.readTree(request.body());
        } catch (JacksonException e) {
            body = null;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (body == null || !body.isObject()) {
            return refused(400, "bad_request", "the body must be a short JSON object");
        }
        return switch (request.path()) {
            case "/demo/session" -> json(200, session());
            case "/demo/rows", "/demo/write", "/demo/policy" -> asCaller(request, body);
            default -> null;
        };
    }

    private Answer asCaller(Request request, JsonNode body) {
        String bearer = request.bearer();
        if (bearer == null) {
            return refused(401, "unauthorized", "the Authorization header has no token");
        }
        return switch (verifier.verify(bearer)) {
            case Verification.Refused(String reason) -> refused(401, "unauthorized", reason);
            case Verification.Verified(Identity caller) -> {
                DemoActions.Answer answer = switch (request.path()) {
                    case "/demo/rows" -> actions.rows(caller);
                    case "/demo/write" -> actions.write(caller, body);
                    default -> actions.policy(body);
                };
                yield json(answer.status(), answer.body());
            }
        };
    }

    /// The page has no login: it is told who alice and bob are, as the terminal is.
    private JsonNode session() {
        ObjectNode session = JSON.createObjectNode().put("prefix", DemoOptions.PREFIX);
        ArrayNode people = session.putArray("people");
        for (Person person : List.of(Person.ALICE, Person.BOB)) {
            people.addObject()
                    .put("name", person.label())
                    .put("id", person.id())
                    .put("token", tokens.of(person));
        }
        return session;
    }

    private static boolean isLoopback(@Nullable String host) {
        return host != null && host.toLowerCase(Locale.ROOT).matches("(127\\.0\\.0\\.1|localhost)(:[0-9]{1,5})?");
    }

    /// A browser says where a request comes from; other clients need not.
    private static boolean isOwnPage(Request request) {
        String site = request.header("sec-fetch-site");
        String origin = request.header("origin");
        return (site == null || site.equals("same-origin"))
                && (origin == null || origin.equals("http://" + request.header("host")));
    }

    private static boolean isJson(@Nullable String contentType) {
        return contentType != null
                && contentType.toLowerCase(Locale.ROOT).split(";", 2)[0].strip().equals("application/json");
    }

    private static Answer file(String name, String type) {
        try (InputStream file = DemoRoutes.class.getResourceAsStream(name)) {
            if (file == null) {
                throw new IllegalStateException(name + " is not in the jar");
            }
            return new Answer(200, headers(type), file.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Answer json(int status, JsonNode body) {
        return new Answer(status, headers("application/json"), (body + "\n").getBytes(StandardCharsets.UTF_8));
    }

    private static Answer refused(int status, String code, String message) {
        return json(status, JSON.createObjectNode().put("error", code).put("message", message));
    }

    private static Map<String, String> headers(String type) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Content-Type", type);
        headers.put("Cache-Control", "no-store");
        headers.put("Content-Security-Policy", CONTENT_SECURITY_POLICY);
        headers.put("Cross-Origin-Resource-Policy", "same-origin");
        headers.put("Referrer-Policy", "no-referrer");
        headers.put("X-Content-Type-Options", "nosniff");
        return headers;
    }
}
