package sluice.core.function;

/// The six comparisons of a B-tree.
public enum ComparisonKind {
    EQUAL("eq"),
    NOT_EQUAL("ne"),
    LESS("lt"),
    LESS_OR_EQUAL("le"),
    GREATER("gt"),
    GREATER_OR_EQUAL("ge");

    private final String suffix;

    ComparisonKind(String suffix) {
        this.suffix = suffix;
    }

    /// How PostgreSQL ends the names of functions that compare.
    String suffix() {
        return suffix;
    }

    /// @param order negative, zero or positive, as `compare(left, right)`
    public boolean holds(int order) {
        return switch (this) {
            case EQUAL -> order == 0;
            case NOT_EQUAL -> order != 0;
            case LESS -> order < 0;
            case LESS_OR_EQUAL -> order <= 0;
            case GREATER -> order > 0;
            case GREATER_OR_EQUAL -> order >= 0;
        };
    }
}
