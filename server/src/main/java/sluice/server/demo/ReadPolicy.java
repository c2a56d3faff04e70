package sluice.server.demo;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The rules for reading notes that the demo can switch between, while streams are open.
enum ReadPolicy {
    OWNER_ONLY("owner", """
            CREATE POLICY notes_read_own ON public.notes FOR SELECT TO authenticated
              USING (owner_id = (SELECT auth.uid()));
            """),
    EVERYONE("everyone", """
            CREATE POLICY notes_read_everyone ON public.notes FOR SELECT TO authenticated
              USING (true);
            """),
    OWNER_ONLY_UNDONE("undone", """
            CREATE POLICY notes_read_own ON public.notes FOR SELECT TO authenticated
              USING (owner_id = (SELECT auth.uid()));
            CREATE POLICY notes_read_undone ON public.notes AS RESTRICTIVE FOR SELECT TO authenticated
              USING (NOT done);
            """);

    private static final String DROP = """
            DROP POLICY IF EXISTS notes_read_own ON public.notes;
            DROP POLICY IF EXISTS notes_read_everyone ON public.notes;
            DROP POLICY IF EXISTS notes_read_undone ON public.notes;
            """;

    private final String label;
    private final String create;

    ReadPolicy(String label, String create) {
        this.label = label;
        this.create = create;
    }

    /// As the page names it.
    String label() {
        return label;
    }

    /// The script that puts this rule in the place of the others.
    String sql() {
        return DROP + create;
    }

    static @Nullable ReadPolicy named(String label) {
        return Arrays.stream(values())
                .filter(policy -> policy.label.equals(label))
                .findFirst()
                .orElse(null);
    }
}
