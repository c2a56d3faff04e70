package sluice.server.judge;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/// A random expression with the type PostgreSQL gives it and what it is made of.
///
/// @param type `pg_type.typname`
/// @param feature the signature or construct it is, empty when nothing is to be learnt from it
/// @param row whether it reads a column; what does not is PostgreSQL's to evaluate, not ours
record Term(String type, String sql, String feature, Row row, List<Term> parts) {
    enum Row {
        READ,
        UNREAD
    }

    static Term constant(String type, String sql) {
        return new Term(type, sql, "", Row.UNREAD, List.of());
    }

    static Term column(String type, String sql) {
        return new Term(type, sql, "column " + type, Row.READ, List.of());
    }

    static Term of(String type, String feature, String sql, List<Term> parts) {
        Row row = parts.stream().anyMatch(part -> part.row == Row.READ) ? Row.READ : Row.UNREAD;
        return new Term(type, sql, feature, row, List.copyOf(parts));
    }

    /// What deciding it in process would show to be supported.
    List<String> features() {
        TreeSet<String> features = new TreeSet<>();
        for (Term term : all()) {
            if (term.row == Row.READ && !term.feature.isEmpty()) {
                features.add(term.feature);
            }
        }
        return List.copyOf(features);
    }

    /// This term and all inside it, the shortest first.
    List<Term> all() {
        List<Term> all = new ArrayList<>();
        collect(all);
        all.sort((a, b) -> Integer.compare(a.sql.length(), b.sql.length()));
        return all;
    }

    private void collect(List<Term> all) {
        all.add(this);
        for (Term part : parts) {
            part.collect(all);
        }
    }
}
