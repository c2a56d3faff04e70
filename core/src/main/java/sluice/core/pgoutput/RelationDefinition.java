package sluice.core.pgoutput;

import java.util.List;

/// A relation as the Relation message before its rows defined it. Two messages that say the same are equal.
///
/// Source: PostgreSQL 18 manual, 54.9 "Logical Replication Message Formats", Relation.
///
/// @param identity `d` primary key, `i` index, `f` full, `n` nothing
public record RelationDefinition(int oid, String schema, String name, char identity, List<Column> columns) {
    public RelationDefinition {
        columns = List.copyOf(columns);
    }

    /// @param inIdentity whether the column is part of the replica identity
    public record Column(String name, int typeOid, int typmod, boolean inIdentity) {}

    public String qualifiedName() {
        return schema + "." + name;
    }
}
