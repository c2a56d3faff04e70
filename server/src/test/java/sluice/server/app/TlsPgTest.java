package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static sluice.server.app.RunningSluice.ALICE;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.testkit.Await;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// Both connections to a PostgreSQL that speaks TLS, whose certificate is for 127.0.0.1 and its own authority.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TlsPgTest {
    private static final String PASSWORD = "changeit";

    private final PostgresCluster cluster = PostgresCluster.start(PostgresCluster.NEWEST, Map.of());
    private final PostgresDatabase database = Notes.database(cluster, "tls");

    private final Path folder = folder();

    private static Path folder() {
        try {
            return Files.createTempDirectory("sluice-tls");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @BeforeAll
    void encrypt() throws Exception {
        KeyStore own = pair("server", "ip:127.0.0.1");
        install("server.crt", pem("CERTIFICATE", certificate(own).getEncoded()));
        install("server.key", pem("PRIVATE KEY", key(own).getEncoded()));
        write("right.crt", own);
        write("wrong.crt", pair("stranger", "ip:127.0.0.1"));
        database.execute("ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()");
        Await.until(
                "the server speaks TLS", () -> "on".equals(database.reconnect().value("SHOW ssl")));
    }

    @AfterAll
    void close() {
        database.close();
        cluster.close();
    }

    /// A key with a certificate that it signed itself.
    private KeyStore pair(String name, String alternative) throws Exception {
        Path file = folder.resolve(name + ".p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "it",
                        "-keyalg",
                        "EC",
                        "-groupname",
                        "secp256r1",
                        "-dname",
                        "CN=" + name,
                        "-ext",
                        "san=" + alternative,
                        "-ext",
                        "bc:c",
                        "-validity",
                        "2",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        PASSWORD)
                .redirectErrorStream(true)
                .start();
        keytool.getOutputStream().close();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor()).as(said).isZero();
        return KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
    }

    private static Certificate certificate(KeyStore store) throws Exception {
        return store.getCertificate("it");
    }

    private static Key key(KeyStore store) throws Exception {
        return store.getKey("it", PASSWORD.toCharArray());
    }

    private static String pem(String kind, byte[] content) {
        return "-----BEGIN " + kind + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content) + "\n-----END " + kind
                + "-----\n";
    }

    private void write(String name, KeyStore store) throws Exception {
        Files.writeString(
                folder.resolve(name), pem("CERTIFICATE", certificate(store).getEncoded()));
    }

    /// PostgreSQL writes it itself, so that it owns it and nobody else may read it.
    private void install(String file, String text) {
        database.execute("COPY (SELECT unnest(string_to_array(" + "'" + text.strip() + "', E'\\n')))"
                + " TO PROGRAM 'umask 077; cat > " + file + "'");
    }

    private Map<String, String> urls(String parameters) {
        return Map.of(
                "SLUICE_DB_REPL_URL", database.url("sluice_repl") + "?replication=database&" + parameters,
                "SLUICE_DB_AUTHZ_URL", database.url("sluice_authz") + "?" + parameters);
    }

    private String trusting(String root) {
        return "&sslrootcert=" + folder.resolve(root).toString().replace("/", "%2F");
    }

    private void assertServesEncrypted(String parameters) throws Exception {
        try (RunningSluice sluice = RunningSluice.on(database, urls(parameters));
                SseClient alice = Notes.open(sluice, ALICE)) {
            database.execute("TRUNCATE notes");
            Notes.insert(database, 1, ALICE);
            assertThat(Notes.idsUntil(alice, 1)).containsExactly(1);
            assertThat(database.rows("""
                            SELECT DISTINCT usename::text, ssl::text FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                            WHERE usename IN ('sluice_repl', 'sluice_authz') ORDER BY 1"""))
                    .containsExactly(List.of("sluice_authz", "true"), List.of("sluice_repl", "true"));
        }
        database.dropSlots();
    }

    @ParameterizedTest
    @ValueSource(strings = {"require", "verify-ca", "verify-full"})
    void both_connections_are_encrypted_and_the_certificate_is_checked(String mode) throws Exception {
        assertServesEncrypted("sslmode=" + mode + (mode.equals("require") ? "" : trusting("right.crt")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"require", "verify-full"})
    void an_authority_that_did_not_sign_refuses_the_start_of_either_connection(String mode) {
        String wrong = "sslmode=" + mode + trusting("wrong.crt");
        for (String setting : List.of("SLUICE_DB_REPL_URL", "SLUICE_DB_AUTHZ_URL")) {
            Map<String, String> one = Map.of(setting, urls(wrong).getOrDefault(setting, ""));
            assertThatThrownBy(() -> RunningSluice.starting(database, one).close())
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining(setting)
                    .hasMessageContaining("certif")
                    .hasMessageNotContainingAny("pa:ss", "pa%3Ass");
        }
        assertThat(database.value("SELECT count(*) FROM pg_replication_slots")).isEqualTo("0");
    }

    /// The certificate is for the address, not for the name; only `verify-full` looks.
    @Test
    void a_certificate_for_another_host_is_refused_by_verify_full_only() throws Exception {
        List<String> refused = new ArrayList<>();
        Map<String, String> byName = Map.of(
                "SLUICE_DB_REPL_URL",
                urls("sslmode=verify-full" + trusting("right.crt"))
                        .getOrDefault("SLUICE_DB_REPL_URL", "")
                        .replace("127.0.0.1", "localhost"));
        assertThatThrownBy(() -> RunningSluice.starting(database, byName).close())
                .isInstanceOfSatisfying(StartException.class, e -> refused.add(String.valueOf(e.getMessage())));
        assertThat(refused)
                .singleElement()
                .asString()
                .contains("SLUICE_DB_REPL_URL", "localhost")
                .doesNotContain("pa:ss", "pa%3Ass");
        Map<String, String> loose = Map.of(
                "SLUICE_DB_REPL_URL",
                urls("sslmode=verify-ca" + trusting("right.crt"))
                        .getOrDefault("SLUICE_DB_REPL_URL", "")
                        .replace("127.0.0.1", "localhost"));
        RunningSluice.on(database, loose).close();
        database.dropSlots();
    }
}
