package sluice.server.app;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Tier;
import sluice.core.diagnostics.Diagnosis;
import sluice.core.diagnostics.Finding;
import sluice.core.diagnostics.Outlook;

/// Reports as JSON.
public final class ReportJson {
    private ReportJson() {}

    /// `{"tables":[{"table","role","tier","reason","policies":[{"name","tier","reason"}]}],"findings":[...]}` on one
    /// line. A tier is null where nobody is shown a row.
    public static String of(Diagnosis diagnosis) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        ArrayNode tables = json.putArray("tables");
        for (Outlook outlook : diagnosis.tables()) {
            ObjectNode table = tables.addObject()
                    .put("table", outlook.table())
                    .put("role", outlook.role())
                    .put("tier", letter(outlook.tier()))
                    .put("reason", outlook.reason());
            ArrayNode policies = table.putArray("policies");
            for (Outlook.OfPolicy policy : outlook.policies()) {
                policies.addObject()
                        .put("name", policy.name())
                        .put("tier", letter(policy.forecast().tier()))
                        .put("reason", policy.forecast().reason());
            }
        }
        json.set("findings", findings(diagnosis.findings()));
        return json.toString();
    }

    private static @Nullable String letter(@Nullable Tier tier) {
        return tier == null ? null : tier.name();
    }

    static ArrayNode findings(List<Finding> findings) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        for (Finding finding : findings) {
            ObjectNode json = array.addObject()
                    .put("code", finding.code())
                    .put("severity", finding.severity().wireName());
            if (finding.relation() != null) {
                json.put("relation", finding.relation());
            }
            if (finding.policy() != null) {
                json.put("policy", finding.policy());
            }
            json.put("reason", finding.reason()).put("impact", finding.impact()).put("remedy", finding.remedy());
        }
        return array;
    }
}
