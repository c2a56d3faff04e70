package sluice.server.postgres.query;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Stamp;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.Tuple;
import sluice.core.session.Identity;
import sluice.core.value.Truth;
import sluice.server.postgres.query.Pool.Lane;

/// Asks PostgreSQL whether a row image of the log satisfies a rule, under the caller's role and claims.
///
/// The image stands in for the table: a sub-select named like it, with the columns the log carried under their names,
/// types and collations. A column that was not carried does not exist there, so a rule that reads it raises instead
/// of taking it for NULL; so does one that takes the whole row as its table's type.
public final class ProbeQueries {
    /// Askings of which one has to find rights at its end as they were in its snapshot.
    private static final int ASKINGS_MAX = 5;

    private final Pool pool;
    private final Duration timeout;
    private final Standing standing = new Standing();

    /// @param timeout of one probe
    public ProbeQueries(Pool pool, Duration timeout) {
        this.pool = pool;
        this.timeout = timeout;
    }

    /// @param table the bare name, which the rule's text may qualify columns with
    /// @param predicate a boolean SQL expression over the columns of the table
    public record Probe(Identity caller, String table, List<Value> image, String predicate) {
        public Probe {
            image = List.copyOf(image);
        }

        /// Only the table: an image holds row values, a caller claims.
        @Override
        public String toString() {
            return "Probe[" + table + "]";
        }
    }

    /// One column of the image.
    ///
    /// @param type the type's name as SQL, qualified outside of `pg_catalog`
    /// @param text PostgreSQL's text form, null for NULL
    /// @param collation by which the table compares the column, as SQL; empty when its type has none
    public record Value(
            String column, String type, @Nullable String text, String collation) {
        /// Never the value.
        @Override
        public String toString() {
            return "Value[" + column + "]";
        }
    }

    /// The probe for an image as the engine has it.
    public static Probe of(Identity caller, CatalogImage catalog, Relation relation, RowImage image, String predicate) {
        List<Value> values = new ArrayList<>();
        for (Column column : relation.columns()) {
            String type = catalog.type(column.typeOid()).name();
            String collation = collation(catalog, column);
            if (collation == null) {
                // a column that cannot be compared as the table does is one that was not carried
                continue;
            }
            Tuple.Kind kind = image.kind(column.attnum());
            if (kind == Tuple.Kind.NULL) {
                values.add(new Value(column.name(), type, null, collation));
            } else if (kind == Tuple.Kind.TEXT) {
                int position = image.mapping().position(column.attnum());
                values.add(new Value(column.name(), type, image.tuple().text(position), collation));
            }
        }
        return new Probe(caller, relation.name(), values, predicate);
    }

    private static @Nullable String collation(CatalogImage catalog, Column column) {
        if (column.collationOid() == 0) {
            return "";
        }
        Collation collation = catalog.collation(column.collationOid());
        return collation == null ? null : " COLLATE " + SqlText.qualified(collation.schema(), collation.name());
    }

    /// @throws QueryException when the database does not answer, or the pool cannot take the
    /// caller's role, or rights
    ///     moved each time it was asked
    public Stamped<ProbeAnswer> probe(Probe probe) {
        for (int asking = 1; asking <= ASKINGS_MAX; asking++) {
            Optional<Stamped<ProbeAnswer>> answer =
                    pool.askWhole(Lane.CALLERS, "the probe", timeout, use -> ask(use, probe));
            if (answer.isPresent()) {
                return answer.get();
            }
        }
        throw QueryException.transientFailure("rights moved each time the probe was asked");
    }

    /// @return empty when rights may have moved between the snapshot and the answer
    private Optional<Stamped<ProbeAnswer>> ask(Pool.Use use, Probe probe) throws SQLException {
        Stamp stamp = CallerSession.enter(use.connection(), probe.caller(), json(probe.image()), timeout);
        Truth truth;
        try {
            truth = Truth.of(!use.last(sql(probe)).getFirst().isEmpty());
        } catch (SQLException e) {
            if (!CallerSession.isAnswer(e)) {
                throw e;
            }
            // a policy that could not be read for a lock says nothing of the row, nor of who decided it
            String state =
                    probe.predicate().contains(PolicyTexts.UNREADABLE) ? PolicyTexts.LOCKED : QueryException.stateOf(e);
            return Optional.of(new Stamped<>(stamp, new ProbeAnswer.Raised(state)));
        }
        boolean nothingCommitted = use.snapshotLeftIn().equals(stamp.snapshot());
        return nothingCommitted || standing.stoodSince(stamp, use.connection())
                ? Optional.of(new Stamped<>(stamp, new ProbeAnswer.Decided(truth)))
                : Optional.empty();
    }

    /// As a condition, as a policy is one: what PostgreSQL raises while it plans a query raises here too.
    /// A sub-select stays one for each row, which the pointless OR sees to: the planner takes it away
    /// only after it has looked for sub-selects to join.
    ///
    /// The values travel apart from the text, so that a rule that raises does not put them into the server's log.
    private static String sql(Probe probe) {
        StringBuilder columns = new StringBuilder();
        StringBuilder definitions = new StringBuilder();
        List<Value> image = probe.image();
        for (int i = 0; i < image.size(); i++) {
            String separator = i == 0 ? "" : ", ";
            columns.append(separator)
                    .append("CAST(image.c")
                    .append(i)
                    .append(" AS ")
                    .append(image.get(i).type())
                    .append(")")
                    .append(image.get(i).collation())
                    .append(" AS ")
                    .append(SqlText.identifier(image.get(i).column()));
            definitions.append(separator).append('c').append(i).append(" pg_catalog.text");
        }
        String from = image.isEmpty()
                ? ""
                : " FROM pg_catalog.json_to_record(pg_catalog.current_setting('sluice.image')::pg_catalog.json) AS"
                        + " image (" + definitions + ")";
        return "SELECT true FROM (SELECT " + columns + from + ") AS " + SqlText.identifier(probe.table()) + " WHERE (("
                + probe.predicate() + ") OR false)";
    }

    private static String json(List<Value> image) {
        StringBuilder json = new StringBuilder("{");
        for (int i = 0; i < image.size(); i++) {
            json.append(i == 0 ? "\"c" : ",\"c").append(i).append("\":");
            String text = image.get(i).text();
            if (text == null) {
                json.append("null");
            } else {
                string(json, text);
            }
        }
        return json.append('}').toString();
    }

    private static void string(StringBuilder json, String text) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }
}
