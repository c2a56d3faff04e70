package sluice.core.authorization;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sluice.core.catalog.Function;
import sluice.core.expression.Expression;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.Likeness;

/// What a rule shows its caller, apart from who decides it, in which order its policies stand and what they are
/// called. Two rules of one shape that mean the same show the same rows. Immutable.
public sealed interface Meaning {
    /// Every row of the shape.
    static Meaning everything() {
        return new Evaluated(List.of());
    }

    /// What must be TRUE, with all that PostgreSQL said of the caller put in.
    record Evaluated(List<Expression> required) implements Meaning {
        public Evaluated {
            required = List.copyOf(required);
        }

        /// Values may come from claims and are never printed.
        @Override
        public String toString() {
            return "Evaluated";
        }
    }

    /// What only PostgreSQL evaluates. What a function it calls calls in its turn, and what other
    /// tables hold, is not
    /// part of it.
    ///
    /// @param answers what PostgreSQL said of the caller
    record Asked(Wording wording, Map<Fold, FoldAnswer> answers) implements Meaning {
        public Asked {
            answers = Collections.unmodifiableMap(new LinkedHashMap<>(answers));
        }

        /// Values may come from claims and are never printed.
        @Override
        public String toString() {
            return "Asked";
        }
    }

    /// A rule that was made of no policies.
    record Given(Rule.Decision decision) implements Meaning {}

    /// Policies as PostgreSQL prints them.
    ///
    /// @param functions those of users that the policies call
    record Wording(Set<String> permissive, Set<String> restrictive, Set<Function> functions) {
        public Wording {
            permissive = Collections.unmodifiableSet(new LinkedHashSet<>(permissive));
            restrictive = Collections.unmodifiableSet(new LinkedHashSet<>(restrictive));
            functions = Collections.unmodifiableSet(new LinkedHashSet<>(functions));
        }
    }

    /// Whether both show the same rows. In doubt they do not.
    default boolean sameAs(Meaning other) {
        return (this instanceof Evaluated(var required) && other instanceof Evaluated(var others))
                ? Likeness.same(new Expression.And(required), new Expression.And(others))
                : equals(other);
    }
}
