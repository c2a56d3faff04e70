package sluice.core.catalog;

import java.util.List;

/// Which old columns PostgreSQL writes to the log for an UPDATE or DELETE.
public sealed interface ReplicaIdentity {
    /// The primary key.
    ///
    /// @param columns attnums of the primary key, empty when the table has none (which breaks its UPDATEs)
    record Default(List<Integer> columns) implements ReplicaIdentity {
        public Default {
            columns = List.copyOf(columns);
        }
    }

    /// A unique index.
    ///
    /// @param columns attnums of the index, empty when the index was dropped
    record UsingIndex(String index, List<Integer> columns) implements ReplicaIdentity {
        public UsingIndex {
            columns = List.copyOf(columns);
        }
    }

    /// The whole row.
    record Full() implements ReplicaIdentity {}

    /// Nothing; UPDATE and DELETE of a published table fail.
    record Nothing() implements ReplicaIdentity {}

    /// A partition root one of whose partitions writes fewer old columns than the root's own identity says. The
    /// stream describes old rows by the root's, so what such a partition did not write looks like NULL: no old row
    /// of the root can be believed.
    ///
    /// @param partition the first such partition, quoted
    record Uneven(String partition) implements ReplicaIdentity {}
}
