package sluice.server.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class PostgresUrlTest {
    @Test
    void the_usual_form_is_read_whole() {
        PostgresUrl url = PostgresUrl.parse("postgres://sluice:s%40cret%2F@db:6432/app?replication=database");

        assertThat(url.hosts()).containsExactly(new PostgresUrl.Host("db", 6432));
        assertThat(url.database()).isEqualTo("app");
        assertThat(url.user()).isEqualTo("sluice");
        assertThat(url.isReplication()).isTrue();
        assertThat(url.driverProperties().getProperty("password")).isEqualTo("s@cret/");
        assertThat(url.jdbcUrl()).isEqualTo("jdbc:postgresql://db:6432/app");
        assertThat(url.driverProperties().getProperty("replication")).isEqualTo("database");
        assertThat(url.withoutReplication().driverProperties()).doesNotContainKey("replication");
    }

    @Test
    void every_part_may_be_left_out() {
        PostgresUrl url = PostgresUrl.parse("postgresql://");

        assertThat(url.hosts()).containsExactly(new PostgresUrl.Host("localhost", 5432));
        assertThat(url.database()).isEqualTo("postgres");
        assertThat(PostgresUrl.parse("postgres://carol@").database()).isEqualTo("carol");
        assertThat(PostgresUrl.parse("postgres:///app").database()).isEqualTo("app");
    }

    @Test
    void parts_are_percent_decoded_and_plus_stays_plus() {
        PostgresUrl url = PostgresUrl.parse("postgres://a%C3%A4:p+w%25@h/n%20m?application_name=x%26y");

        assertThat(url.user()).isEqualTo("aä");
        assertThat(url.driverProperties().getProperty("password")).isEqualTo("p+w%");
        assertThat(url.database()).isEqualTo("n m");
        assertThat(url.jdbcUrl()).endsWith("/n%20m");
        assertThat(url.driverProperties().getProperty("ApplicationName")).isEqualTo("x&y");
    }

    @Test
    void several_hosts_imply_a_writable_server_unless_the_url_says_otherwise() {
        PostgresUrl url = PostgresUrl.parse("postgres://u@a:1,b,[::1]:3/d");

        assertThat(url.hosts())
                .containsExactly(
                        new PostgresUrl.Host("a", 1), new PostgresUrl.Host("b", 5432), new PostgresUrl.Host("::1", 3));
        assertThat(url.jdbcUrl()).isEqualTo("jdbc:postgresql://a:1,b:5432,[::1]:3/d");
        assertThat(url.driverProperties().getProperty("targetServerType")).isEqualTo("primary");
        assertThat(PostgresUrl.parse("postgres://a/d").driverProperties()).doesNotContainKey("targetServerType");
        assertThat(PostgresUrl.parse("postgres://a,b/d?target_session_attrs=any")
                        .driverProperties()
                        .getProperty("targetServerType"))
                .isEqualTo("any");
    }

    @Test
    void hosts_may_stand_among_the_parameters() {
        assertThat(PostgresUrl.parse("postgres:///d?host=a,b&port=1,2").hosts())
                .containsExactly(new PostgresUrl.Host("a", 1), new PostgresUrl.Host("b", 2));
    }

    @Test
    void a_root_certificate_is_never_ignored() {
        var properties = PostgresUrl.parse("postgres://h/d?sslmode=require&sslrootcert=/ca.pem")
                .driverProperties();

        assertThat(properties.getProperty("sslmode")).isEqualTo("verify-ca");
        assertThat(properties.getProperty("sslrootcert")).isEqualTo("/ca.pem");
        assertThat(PostgresUrl.parse("postgres://h/d?sslrootcert=system")
                        .driverProperties()
                        .getProperty("sslmode"))
                .isEqualTo("verify-full");
    }

    @Test
    void options_reach_the_server_as_written() {
        assertThat(PostgresUrl.parse("postgres://h/d?options=-c%20work_mem%3D1MB")
                        .driverProperties()
                        .getProperty("options"))
                .isEqualTo("-c work_mem=1MB");
    }

    @Test
    void a_password_is_in_no_message_and_no_text_form() {
        String secret = "hunter2";
        assertThat(PostgresUrl.parse("postgres://u:hunter2@h/d").toString()).doesNotContain(secret);
        assertThat(PostgresUrl.parse("postgres://u:hunter2@h/d").jdbcUrl()).doesNotContain(secret);
        for (String broken : List.of(
                "http://u:hunter2@h/d",
                "postgres://u:a@hunter2@h/d",
                "postgres://u:hunter2/x@h/d",
                "postgres://u:x/hunter2@h/d",
                "postgres://u:hunter2%@h/d",
                "postgres://u:hunter2%zz@h/d",
                "postgres://u:hunter2%00@h/d",
                "postgres://u:hunter2%ff@h/d",
                "postgres://u:hunter2@h:port/d",
                "postgres://u:hunter2@h:99999/d",
                "postgres://u:hunter2@[::1/d",
                "postgres://u:p#hunter2@h/d?x",
                "postgres://u:hunter2@h/d?sslmode=hunter2",
                "postgres://h/d?password=hunter2&Hunter2=1",
                "postgres://h/d?password=hunter2&nosuch=hunter2",
                "postgres://u:hunter2@%2Ftmp/d",
                "postgres://u:hunter2@h/d?replication=true")) {
            assertThatThrownBy(() -> PostgresUrl.parse(broken))
                    .as(broken)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasNoCause()
                    .message()
                    .doesNotContainIgnoringCase(secret);
        }
    }

    @Test
    void an_unknown_parameter_is_refused_by_name() {
        assertThatThrownBy(() -> PostgresUrl.parse("postgres://h/d?pool_max_conns=4"))
                .hasMessageContaining("pool_max_conns");
    }
}
