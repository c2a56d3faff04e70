package sluice.core.transaction;

import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;

/// What one commit did to one key (net image), or to a table.
public sealed interface Change {
    RelationDefinition relation();

    record Insert(RelationDefinition relation, Tuple row) implements Change {}

    /// @param old the state before the commit as far as the log carried it; null when it carried none, which means
    ///     the replica identity's columns did not change
    record Update(RelationDefinition relation, @Nullable Tuple old, Tuple row) implements Change {}

    record Delete(RelationDefinition relation, Tuple old) implements Change {}

    record Truncate(RelationDefinition relation) implements Change {}
}
