package sluice.server.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.error.RequestException;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition;
import sluice.core.wal.ResumePosition.Scope;

/// Positions to resume from: the text of an LSN, or an object `{"lsn", "history"?, "complete"?}`.
///
/// Beside a shape it is of that shape. In the request's `resume` it is of a table, by `schema.table`: then it holds
/// for a shape of that table when the request has one only, or when it says `"complete": true`.
final class ResumeBody {
    private ResumeBody() {}

    /// @param value of a subscription's own `resume`
    /// @throws RequestException `BAD_REQUEST` when it is neither text nor such an object
    static ResumePosition ofShape(JsonNode value) {
        return position(value, Scope.SHAPE);
    }

    /// Gives each shape without a position of its own that of its table.
    ///
    /// @throws RequestException `BAD_REQUEST` when `resume` is no object of positions
    static List<SubscriptionRequest> resumed(List<SubscriptionRequest> requests, @Nullable JsonNode resume) {
        if (resume == null || resume.isNull()) {
            return requests;
        }
        if (!resume.isObject()) {
            throw JsonBody.bad("\"resume\" must be an object");
        }
        Map<String, Integer> shapesByTable = new LinkedHashMap<>();
        for (SubscriptionRequest request : requests) {
            if (request.shape() != null) {
                shapesByTable.merge(name(request.shape()), 1, Integer::sum);
            }
        }
        List<SubscriptionRequest> resumed = new ArrayList<>();
        for (SubscriptionRequest request : requests) {
            ShapeRequest shape = request.shape();
            JsonNode value = shape == null || shape.resume() != null ? null : resume.get(name(shape));
            if (shape == null || value == null) {
                resumed.add(request);
            } else {
                Scope scope = shapesByTable.getOrDefault(name(shape), 0) > 1 ? Scope.TABLE_OF_SEVERAL : Scope.SHAPE;
                resumed.add(new SubscriptionRequest(
                        request.label(), shape.resumedAt(position(value, scope)), request.problem()));
            }
        }
        return resumed;
    }

    private static String name(ShapeRequest shape) {
        return shape.schema() + "." + shape.table();
    }

    private static ResumePosition position(JsonNode value, Scope scope) {
        if (value.isTextual()) {
            return new ResumePosition(lsn(value.textValue()), null, scope);
        }
        if (!value.isObject()) {
            throw JsonBody.bad("a resume position must be an LSN or an object");
        }
        JsonBody.onlyMembers(value, List.of("lsn", "history", "complete"));
        JsonNode complete = value.get("complete");
        if (complete != null && !complete.isBoolean()) {
            throw JsonBody.bad("\"complete\" must be true or false");
        }
        return new ResumePosition(
                lsn(JsonBody.requiredText(value, "lsn")),
                JsonBody.text(value, "history"),
                complete != null && complete.booleanValue() ? Scope.SHAPE : scope);
    }

    private static @Nullable Lsn lsn(String text) {
        try {
            return Lsn.parse(text);
        } catch (IllegalArgumentException e) {
            // told with the subscription's result, which is live all the same
            return null;
        }
    }
}
