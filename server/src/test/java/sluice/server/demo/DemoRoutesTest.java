package sluice.server.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.server.http.Answer;
import sluice.server.http.ExtraRoutes;
import sluice.server.postgres.console.Console;

/// Who may ask the demo for what. There is no database behind: a request that reaches it answers 409.
class DemoRoutesTest {
    private static final int REACHED_THE_DATABASE = 409;

    @TempDir
    private Path folder = Path.of("");

    private DemoKey key;
    private DemoRoutes routes;

    @BeforeEach
    void start() throws DemoException {
        key = DemoKey.loadOrCreate(folder);
        DemoDatabase nowhere = new DemoDatabase(new Console.Target("127.0.0.1", 1, "postgres", "nobody", "x"));
        routes = DemoRoutes.of(nowhere, key, DemoTokens.signedWith(key));
    }

    @Test
    void the_page_may_load_nothing_from_elsewhere_and_run_nothing_inline() {
        Answer page = get("/");
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.headers().get("Content-Security-Policy"))
                .startsWith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';")
                .doesNotContain("unsafe");
        assertThat(text(page)).doesNotContainPattern("<script(?![^>]*src=\"/)|<style|\\son[a-z]+=|style=");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/demo/demo.js", "/demo/demo.css", "/demo/icon.svg"})
    void what_the_page_names_is_in_the_jar(String path) {
        assertThat(get(path).status()).isEqualTo(200);
        assertThat(text(get("/"))).contains(path);
    }

    @Test
    void row_values_are_never_parsed_as_html() {
        assertThat(text(get("/demo/demo.js")))
                .doesNotContainPattern("innerHTML|outerHTML|insertAdjacentHTML|document\\.write");
    }

    @Test
    void other_paths_are_left_to_the_server() {
        assertThat(routes.answer(request("GET", "/sluice/v1/stream", Map.of("host", "127.0.0.1"), null, "")))
                .isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"evil.example", "127.0.0.1.evil.example:4000", "localhost.evil.example", ""})
    void a_name_that_another_site_pointed_here_is_refused(String host) {
        Map<String, String> headers = new LinkedHashMap<>(own());
        headers.put("host", host);
        // To the browser it is one and the same site.
        headers.put("origin", "http://" + host);
        assertThat(answer("POST", "/demo/session", headers, null, "{}").status())
                .isEqualTo(403);
    }

    @Test
    void another_site_is_refused() {
        assertThat(answer("POST", "/demo/session", with("origin", "https://evil.example"), null, "{}")
                        .status())
                .isEqualTo(403);
        assertThat(answer("POST", "/demo/session", with("sec-fetch-site", "cross-site"), null, "{}")
                        .status())
                .isEqualTo(403);
        assertThat(answer("POST", "/demo/session", with("sec-fetch-site", "same-site"), null, "{}")
                        .status())
                .isEqualTo(403);
    }

    @Test
    void what_a_form_can_send_is_refused() {
        assertThat(answer("POST", "/demo/session", with("content-type", "text/plain"), null, "{}")
                        .status())
                .isEqualTo(403);
        assertThat(answer("GET", "/demo/session", own(), null, "").status()).isEqualTo(405);
    }

    @Test
    void the_own_page_is_told_who_alice_and_bob_are() {
        Answer session = answer("POST", "/demo/session", own(), null, "{}");
        assertThat(session.status()).isEqualTo(200);
        assertThat(text(session)).contains("\"alice\"").contains("\"bob\"").doesNotContain("service_role");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/demo/rows", "/demo/write", "/demo/policy"})
    void rows_and_policies_need_a_valid_token(String path) throws DemoException, IOException {
        String body = "{\"action\":\"delete\",\"id\":1}";
        assertThat(answer("POST", path, own(), null, body).status()).isEqualTo(401);
        assertThat(answer("POST", path, own(), "made.up.token", body).status()).isEqualTo(401);
        String expired = key.sign(Person.ALICE.id(), DemoTokens.USER_ROLE, Duration.ofSeconds(-5));
        assertThat(answer("POST", path, own(), expired, body).status()).isEqualTo(401);
        String superuser = key.sign(Person.ALICE.id(), "postgres", Duration.ofMinutes(1));
        assertThat(answer("POST", path, own(), superuser, body).status()).isEqualTo(401);
        String foreign = DemoKey.loadOrCreate(Files.createDirectory(folder.resolve("other")))
                .sign(Person.ALICE.id(), DemoTokens.USER_ROLE, Duration.ofMinutes(1));
        assertThat(answer("POST", path, own(), foreign, body).status()).isEqualTo(401);
        String valid = key.sign(Person.ALICE.id(), DemoTokens.USER_ROLE, Duration.ofMinutes(1));
        assertThat(answer("POST", path, own(), valid, body).status()).isEqualTo(REACHED_THE_DATABASE);
    }

    private Answer get(String path) {
        return answer("GET", path, Map.of("host", "127.0.0.1:4000"), null, "");
    }

    private static Map<String, String> own() {
        return Map.of(
                "host", "127.0.0.1:4000",
                "origin", "http://127.0.0.1:4000",
                "sec-fetch-site", "same-origin",
                "content-type", "application/json");
    }

    private static Map<String, String> with(String name, String value) {
        Map<String, String> headers = new LinkedHashMap<>(own());
        headers.put(name, value);
        return headers;
    }

    private Answer answer(
            String method, String path, Map<String, String> headers, @Nullable String bearer, String body) {
        Answer answer = routes.answer(request(method, path, headers, bearer, body));
        assertThat(answer).as(path).isNotNull();
        return Objects.requireNonNull(answer);
    }

    private static ExtraRoutes.Request request(
            String method, String path, Map<String, String> headers, @Nullable String bearer, String body) {
        return new ExtraRoutes.Request(method, path, "", headers, bearer, body.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(Answer answer) {
        return new String(answer.body(), StandardCharsets.UTF_8);
    }
}
