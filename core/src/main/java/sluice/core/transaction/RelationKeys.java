package sluice.core.transaction;

import sluice.core.pgoutput.RelationDefinition;

/// Which columns tell the rows of a relation apart while the images of one commit are netted.
public interface RelationKeys {
    /// Positions in the definition; empty when only the whole row can tell.
    int[] keyPositions(RelationDefinition relation);
}
