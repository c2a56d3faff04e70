package sluice.server.judge;

import org.jspecify.annotations.Nullable;

/// One expression to judge.
///
/// @param subject what it was written to cover, null for a random one
record Sample(Term term, @Nullable Callable subject) {
    Sample with(Term other) {
        return new Sample(other, subject);
    }
}
