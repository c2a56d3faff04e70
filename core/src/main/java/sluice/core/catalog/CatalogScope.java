package sluice.core.catalog;

import java.util.List;

/// How much of the catalog to read.
public sealed interface CatalogScope {
    /// Every published table and the whole dictionary.
    record Everything() implements CatalogScope {}

    /// Some tables by oid, with whatever of the dictionary they need. A table that is gone is
    /// left out of the answer.
    record Tables(List<Integer> oids) implements CatalogScope {
        public Tables {
            oids = List.copyOf(oids);
        }
    }
}
