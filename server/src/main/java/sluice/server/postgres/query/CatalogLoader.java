package sluice.server.postgres.query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Function;
import sluice.core.catalog.Operator;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Role;
import sluice.core.catalog.Stamp;
import sluice.core.catalog.Succession;
import sluice.server.postgres.query.CatalogSql.Part;
import sluice.server.postgres.query.Pool.Lane;
import sluice.server.postgres.query.Rows.Row;

/// Reads the catalog in one REPEATABLE READ transaction: what the publication holds, who may read it and how rows are
/// decided. A reading during which rights moved is made again ({@link CatalogSql#standing}).
///
/// What every database of a major version has (types, functions, operators, collations of `pg_catalog`) is read
/// once by {@link #start}; the rest each time, so an image is always complete besides its tables. Immutable; any
/// thread may load, one after the other on the lane reserved for it.
public final class CatalogLoader {
    /// Readings of which one has to find rights as they were when it began.
    private static final int READINGS_MAX = 5;

    private final Pool pool;
    private final String publication;
    private final List<String> roles;
    private final BuiltIns builtIns;

    /// What {@link #start} reads.
    private record BuiltIns(
            int major,
            List<Row> types,
            Map<Integer, Function> functions,
            Map<Integer, Operator> operators,
            Map<Integer, Collation> collations) {}

    private CatalogLoader(Pool pool, String publication, List<String> roles, BuiltIns builtIns) {
        this.pool = pool;
        this.publication = publication;
        this.roles = List.copyOf(roles);
        this.builtIns = builtIns;
    }

    /// @param roles the allowed roles; those that do not exist are missing from images
    /// @throws QueryException when the database does not answer in time
    public static CatalogLoader start(Pool pool, String publication, List<String> roles, Duration timeout) {
        BuiltIns builtIns = pool.ask(Lane.CATALOG, "the catalog query", timeout, connection -> {
            int major = Rows.run(
                                    connection,
                                    ReadTransaction.begin(timeout)
                                            + "SELECT pg_catalog.current_setting('server_version_num')")
                            .getFirst()
                            .getFirst()
                            .number(0)
                    / 10000;
            List<List<Row>> answers = Rows.run(
                    connection,
                    CatalogSql.BUILT_IN_TYPES
                            + CatalogSql.functions(Part.BUILT_IN, roles)
                            + CatalogSql.operators(Part.BUILT_IN)
                            + CatalogSql.collations(Part.BUILT_IN, major));
            return new BuiltIns(
                    major,
                    answers.get(0),
                    DictionaryAssembly.functions(answers.get(1), Map.of(), roles),
                    DictionaryAssembly.operators(answers.get(2)),
                    DictionaryAssembly.collations(answers.get(3)));
        });
        return new CatalogLoader(pool, publication, roles, builtIns);
    }

    /// The server's major version at {@link #start}.
    public int serverMajor() {
        return builtIns.major();
    }

    /// Tables asked for that are not published (any more) are missing from the image.
    ///
    /// @throws QueryException when the database does not answer in time, is a standby or another version than at
    ///     start, the publication is missing, or rights moved during every reading
    public CatalogImage load(CatalogScope scope, Duration timeout) {
        return pool.ask(Lane.CATALOG, "the catalog query", timeout, connection -> load(connection, scope, timeout));
    }

    private CatalogImage load(Connection connection, CatalogScope scope, Duration timeout) throws SQLException {
        for (int reading = 1; reading <= READINGS_MAX; reading++) {
            Reading read = read(connection, scope, timeout);
            String since = Rows.run(
                            connection,
                            "ROLLBACK; " + ReadTransaction.begin(timeout) + CatalogSql.standing(read.asked()))
                    .getLast()
                    .getFirst()
                    .text(0);
            if (since.equals(read.standing())) {
                // after the reading, so that what it read is the last of what was replaced
                Succession succession = pool.earlier().looked(read.server(), read.relations(), scope);
                return new CatalogImage(read.stamp(), read.relations(), read.dictionary(), read.rights(), succession);
            }
            Rows.run(connection, "ROLLBACK");
        }
        throw QueryException.transientFailure("rights moved each time the catalog was read");
    }

    /// What one snapshot says, and what roles may do by the time they were asked about.
    ///
    /// @param standing what the latter rests on, in the snapshot
    private record Reading(
            Stamp stamp,
            String server,
            List<Integer> asked,
            List<Relation> relations,
            CatalogImage.Dictionary dictionary,
            @Nullable String rights,
            String standing) {}

    private Reading read(Connection connection, CatalogScope scope, Duration timeout) throws SQLException {
        List<List<Row>> start = Rows.run(connection, ReadTransaction.begin(timeout) + CatalogSql.start(publication));
        Row first = start.getFirst().getFirst();
        Stamp stamp = ReadTransaction.stamp(first);
        if (first.number(3) / 10000 != builtIns.major()) {
            throw QueryException.definite("the database was upgraded to another major version: restart the server");
        }
        Row members = start.getLast().getFirst();
        if (members.textOrNull(0) == null) {
            throw QueryException.definite("the publication \"" + publication + "\" does not exist");
        }
        List<Integer> published = members.numbers(1);
        List<Integer> asked = new ArrayList<>(published);
        if (scope instanceof CatalogScope.Tables(var oids)) {
            asked.retainAll(oids);
        }
        List<List<Row>> answers = Rows.run(
                connection,
                CatalogSql.standing(asked)
                        + CatalogSql.relations(publication, builtIns.major(), asked)
                        + CatalogSql.columns(asked)
                        + CatalogSql.indexes(asked)
                        + CatalogSql.policies(asked)
                        + CatalogSql.grants(asked, roles)
                        + CatalogSql.allowedRoles(roles)
                        + CatalogSql.functions(Part.OWN, roles)
                        + CatalogSql.operators(Part.OWN)
                        + CatalogSql.collations(Part.OWN, builtIns.major())
                        + CatalogSql.ownTypes(published)
                        + CatalogSql.OWN_CASTS);
        List<String> existing =
                answers.get(6).stream().map(role -> role.text(1)).toList();
        PolicyTexts texts = PolicyTexts.read(connection, withPolicies(answers.get(4)), existing);
        RelationAssembly assembly =
                new RelationAssembly(answers.get(2), answers.get(3), answers.get(4), answers.get(5), texts);
        return new Reading(
                stamp,
                EarlierVersions.Server.of(first, 4),
                asked,
                answers.get(1).stream().map(assembly::relation).toList(),
                dictionary(answers.subList(6, answers.size())),
                rights(connection, scope),
                answers.getFirst().getFirst().text(0));
    }

    /// Only what is loaded whole is compared with the poll.
    private @Nullable String rights(Connection connection, CatalogScope scope) throws SQLException {
        return switch (scope) {
            case CatalogScope.Everything() ->
                Rows.run(connection, "SELECT " + RightsPoll.digests(publication))
                        .getFirst()
                        .getFirst()
                        .text(0);
            case CatalogScope.Tables _ -> null;
        };
    }

    private static List<Integer> withPolicies(List<Row> policies) {
        return policies.stream()
                .filter(row -> row.textOrNull(6) != null)
                .map(row -> row.oid(0))
                .distinct()
                .toList();
    }

    /// @param answers roles, functions, operators, collations, types, attributes, labels, casts
    private CatalogImage.Dictionary dictionary(List<List<Row>> answers) {
        Map<String, Role> rolesByName = DictionaryAssembly.roles(answers.get(0));
        TypeAssembly types = new TypeAssembly();
        types.types(builtIns.types());
        types.types(answers.get(4));
        types.attributes(answers.get(5));
        types.labels(answers.get(6));
        return new CatalogImage.Dictionary(
                builtIns.major(),
                Collections.unmodifiableMap(types.build()),
                rolesByName,
                merged(builtIns.functions(), DictionaryAssembly.functions(answers.get(1), rolesByName, roles)),
                merged(builtIns.operators(), DictionaryAssembly.operators(answers.get(2))),
                merged(builtIns.collations(), DictionaryAssembly.collations(answers.get(3))),
                DictionaryAssembly.casts(answers.get(7)));
    }

    private static <T> Map<Integer, T> merged(Map<Integer, T> builtIn, Map<Integer, T> own) {
        Map<Integer, T> merged = new HashMap<>(builtIn);
        merged.putAll(own);
        return Collections.unmodifiableMap(merged);
    }
}
