package sluice.server.postgres.query;

import java.time.Duration;
import java.time.Instant;
import sluice.core.session.Identity;
import sluice.server.postgres.PostgresUrl;
import sluice.testkit.PostgresDatabase;

/// Pools and callers for tests.
final class Questions {
    static final Duration TIMEOUT = Duration.ofSeconds(20);
    static final String ALICE = "11111111-1111-4111-8111-111111111111";
    static final String BOB = "22222222-2222-4222-8222-222222222222";

    private Questions() {}

    static Pool pool(PostgresDatabase database) {
        return pool(database, 2, Pool.Reset.ROLLBACK);
    }

    static Pool pool(PostgresDatabase database, int callers, Pool.Reset reset) {
        return Pool.open(PostgresUrl.parse(database.url("sluice_authz")), new Pool.Sizing(callers, 0, TIMEOUT), reset);
    }

    /// A pool that knows which version of a right replaced which.
    static Pool remembering(PostgresDatabase database) {
        return Pool.open(
                PostgresUrl.parse(database.url("sluice_authz")),
                new Pool.Sizing(1, 0, 1, TIMEOUT, Pool.Memory.KEPT),
                Pool.Reset.ROLLBACK);
    }

    static Identity caller(String role, String subject) {
        String claims = "{\"sub\":\"" + subject + "\",\"role\":\"" + role + "\",\"it's\":\"a\\\\b?\"}";
        return new Identity(subject, role, claims, Instant.MAX);
    }
}
