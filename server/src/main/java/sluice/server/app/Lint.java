package sluice.server.app;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.diagnostics.Diagnosis;
import sluice.core.diagnostics.Finding;
import sluice.core.error.ErrorCode;
import sluice.server.config.Settings;
import sluice.server.postgres.query.CatalogLoader;
import sluice.server.postgres.query.Pool;
import sluice.server.postgres.query.QueryException;
import sluice.server.postgres.query.StartupValidation;

/// One look at a database, as the server would take it at its start: read only, as the pool's role.
public final class Lint {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    /// What makes the catalog unreadable or meaningless.
    private static final List<String> NOTHING_TO_READ =
            List.of("standby", "server_version", "server_encoding", "publication_missing");

    private Lint() {}

    /// @param publication null for that of the settings
    /// @param roles empty for those of the settings
    /// @throws StartException when the database cannot be asked; begins with a code
    public static Diagnosis of(Settings settings, @Nullable String publication, List<String> roles)
            throws StartException {
        StartupValidation.Expectation set = Wiring.expectation(settings);
        StartupValidation.Expectation expectation = new StartupValidation.Expectation(
                set.slot(),
                publication == null ? set.publication() : publication,
                roles.isEmpty() ? set.allowedRoles() : roles,
                set.replicationUser(),
                set.protocolVersion(),
                set.recreation(),
                set.revocation());
        try (Pool pool = Pool.open(
                settings.database().pool(), new Pool.Sizing(1, 0, Duration.ofSeconds(5)), Pool.Reset.ROLLBACK)) {
            return look(pool, expectation);
        } catch (QueryException e) {
            throw new StartException(ErrorCode.CATALOG_UNAVAILABLE.wireName() + ": " + e.getMessage(), e);
        }
    }

    private static Diagnosis look(Pool pool, StartupValidation.Expectation expectation) {
        List<sluice.server.postgres.query.Finding> atStart =
                new StartupValidation(pool, expectation, TIMEOUT).run().findings();
        Diagnosis diagnosis = new Diagnosis(List.of(), List.of());
        if (atStart.stream().noneMatch(finding -> NOTHING_TO_READ.contains(finding.code()))) {
            CatalogImage catalog = CatalogLoader.start(
                            pool, expectation.publication(), expectation.allowedRoles(), TIMEOUT)
                    .load(new CatalogScope.Everything(), TIMEOUT);
            diagnosis = Diagnosis.of(catalog, expectation.allowedRoles());
        }
        List<Finding> findings = new ArrayList<>(diagnosis.findings());
        for (sluice.server.postgres.query.Finding found : atStart) {
            Finding finding = StartFindings.of(found);
            if (!isToldAlready(finding, diagnosis.findings())) {
                findings.add(finding);
            }
        }
        return new Diagnosis(diagnosis.tables(), Diagnosis.worstFirst(findings));
    }

    /// The catalog tells of a broken identity too, and knows the better remedy.
    private static boolean isToldAlready(Finding finding, List<Finding> told) {
        return finding.code().equals("replica_identity")
                && told.stream()
                        .anyMatch(other -> other.code().equals("replica_identity_broken")
                                && finding.relation() != null
                                && finding.relation().equals(other.relation()));
    }
}
