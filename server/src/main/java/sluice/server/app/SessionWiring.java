package sluice.server.app;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.SessionRules;
import sluice.core.session.RevocationList;
import sluice.core.session.RevocationTables;
import sluice.core.session.Revocations;
import sluice.server.config.Settings;
import sluice.server.http.SessionCheck;
import sluice.server.postgres.query.Finding;
import sluice.server.postgres.query.Pool;
import sluice.server.postgres.query.SessionQuery;
import sluice.server.postgres.query.StartupValidation;
import sluice.server.session.SessionLookup;
import sluice.server.session.SharedRevocations;

/// What the parts that end sessions are told, out of the settings.
final class SessionWiring {
    /// Sessions that ended, and users that are banned; some 120 bytes each.
    private static final int REVOCATIONS_REMEMBERED_MAX = 200_000;

    private static final Duration LOOKUP_TIMEOUT = Duration.ofSeconds(5);

    private SessionWiring() {}

    /// What the start-up validation looks at, null when nothing ends sessions.
    static StartupValidation.@Nullable Revocation expectation(Settings settings) {
        Settings.Revocation revocation = settings.revocation();
        return revocation == null
                ? null
                : new StartupValidation.Revocation(
                        revocation.tables(),
                        revocation.lookup() == Settings.Revocation.Lookup.ON
                                ? StartupValidation.Revocation.Lookup.ON
                                : StartupValidation.Revocation.Lookup.OFF);
    }

    /// What ends sessions, {@link Revocations#NONE} when nothing does.
    static Revocations revocations(Settings settings) {
        Settings.Revocation revocation = settings.revocation();
        if (revocation == null) {
            return Revocations.NONE;
        }
        return new SharedRevocations(new RevocationList(
                REVOCATIONS_REMEMBERED_MAX,
                REVOCATIONS_REMEMBERED_MAX,
                revocation.lookup() == Settings.Revocation.Lookup.ON
                        ? RevocationList.Forgotten.LOOKED_UP
                        : RevocationList.Forgotten.REFUSED));
    }

    static @Nullable SessionRules rules(Settings settings, Revocations revocations) {
        Settings.Revocation revocation = settings.revocation();
        return revocation == null ? null : new SessionRules(revocation.tables(), revocations);
    }

    /// @param warnings of the start-up validation
    static SessionCheck check(
            Settings settings, Pool pool, List<Finding> warnings, Revocations revocations, InstantSource clock) {
        Settings.Revocation revocation = settings.revocation();
        if (revocation == null || revocation.lookup() == Settings.Revocation.Lookup.OFF) {
            return SessionCheck.NONE;
        }
        RevocationTables tables = revocation.tables();
        SessionQuery sessions = SessionQuery.ofSessions(pool, tables.sessions(), LOOKUP_TIMEOUT);
        return new SessionLookup(
                new SessionLookup.Questions(sessions::exists, ban(pool, tables, warnings)),
                revocations,
                Math.max(1, Wiring.callerConnections(settings) / 2),
                clock,
                System::nanoTime);
    }

    /// Bans are looked up where the start found that they can be.
    private static SessionLookup.@Nullable Question ban(Pool pool, RevocationTables tables, List<Finding> warnings) {
        RevocationTables.Table users = tables.users();
        boolean unreadable =
                warnings.stream().anyMatch(warning -> warning.code().startsWith("ban_lookup_"));
        return users == null || unreadable
                ? null
                : SessionQuery.ofBans(pool, users, tables.banColumn(), LOOKUP_TIMEOUT)::exists;
    }
}
