package sluice.bench.micro;

import java.util.Locale;

/// Policies as applications write them, over the rows of {@link SampleTable}: one for each way of comparing.
///
/// Under {@link SampleTable#CLAIMS} each is TRUE for one of the two rows and FALSE for the other, which it finds out
/// as late as it can.
public enum SamplePolicy {
    UUID_OWNER("owner_id = (SELECT auth.uid())"),
    TEXT_CLAIM("team = (SELECT auth.jwt() ->> 'team')"),
    INTEGER_IN("status IN (1, 2, 5, 8)"),
    FIVE_TERMS("published AND title IS NOT NULL AND score >= 10"
            + " AND (owner_id = (SELECT auth.uid()) OR team = (SELECT auth.jwt() ->> 'team'))"),
    CASE_WHEN("CASE WHEN status = 9 THEN false WHEN published THEN owner_id = (SELECT auth.uid())"
            + " ELSE team = 'nobody' END"),
    TIME_PASSED("expires_at > now()"),
    NUMERIC_LIMIT("amount > 100.00"),
    TEXT_LIKE("title LIKE 'Report %'"),
    ARRAY_CONTAINS("tags @> ARRAY['public']"),
    JSONB_MEMBER("attributes ->> 'plan' = 'pro'");

    private final String condition;

    SamplePolicy(String condition) {
        this.condition = condition;
    }

    /// In SQL.
    String condition() {
        return condition;
    }

    /// As a policy is called in the catalog.
    String policyName() {
        return "bench_" + name().toLowerCase(Locale.ROOT);
    }
}
