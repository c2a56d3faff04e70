package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;

/// The folds of one rule, each asked once however often it occurs. Filled by one {@link ExpressionReader} after the
/// other, on one thread.
public final class FoldList {
    /// More row-free parts than this make a rule not compilable.
    static final int COUNT_MAX = 64;

    private final List<Fold> folds = new ArrayList<>();

    /// @return its index, or -1 when the list is full
    int add(Fold fold) {
        int known = folds.indexOf(fold);
        if (known >= 0) {
            return known;
        }
        if (folds.size() == COUNT_MAX) {
            return -1;
        }
        folds.add(fold);
        return folds.size() - 1;
    }

    public List<Fold> folds() {
        return List.copyOf(folds);
    }
}
