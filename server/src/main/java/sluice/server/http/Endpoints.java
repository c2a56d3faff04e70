package sluice.server.http;

import io.netty.handler.codec.http.HttpMethod;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.server.logging.RequestLog.RefusedRequest;

/// Routes requests to their answers. Shared by all connections; called on their loops.
///
/// A path that does not exist and a method a path does not have are the same thing: 404, `not_found`.
final class Endpoints {
    private enum Route {
        STREAM,
        SUBSCRIBE,
        UNSUBSCRIBE,
        PUBLISH,
        PRESENCE,
        TOKEN,
        REFRESH_KEYS,
        DROP_SHAPES,
        HEALTH,
        READY,
        METRICS,
        DIAGNOSTICS,
        OTHER
    }

    private final HttpContext context;
    private final StreamOpening opening;
    private final ControlEndpoints control;

    Endpoints(HttpContext context) {
        this.context = context;
        this.opening = new StreamOpening(context);
        this.control = new ControlEndpoints(context);
    }

    ControlEndpoints control() {
        return control;
    }

    void handle(Request request, RequestReader reader) {
        switch (route(request)) {
            case STREAM -> opening.open(request, reader);
            case SUBSCRIBE -> control.subscribe(request, reader);
            case UNSUBSCRIBE -> control.unsubscribe(request, reader);
            case PUBLISH -> control.publish(request, reader);
            case PRESENCE -> control.presence(request, reader);
            case TOKEN -> control.token(request, reader);
            case REFRESH_KEYS -> control.refreshKeys(request, reader);
            case DROP_SHAPES -> control.dropShapes(request, reader);
            case HEALTH -> reader.respond(Answer.json(200, "{\"status\":\"ok\"}"));
            case READY -> reader.respond(readiness());
            case METRICS -> later(reader, this::metrics);
            case DIAGNOSTICS -> diagnostics(request, reader);
            case OTHER -> other(request, reader);
        }
    }

    private Route route(Request request) {
        String prefix = context.settings().pathPrefix();
        String path = request.path();
        boolean prefixed = path.startsWith(prefix);
        String below = prefixed ? path.substring(prefix.length()) : path;
        if (request.method().equals(HttpMethod.POST)) {
            return prefixed ? posted(below) : Route.OTHER;
        }
        if (!request.method().equals(HttpMethod.GET)) {
            return Route.OTHER;
        }
        return switch (below) {
            case "/healthz" -> Route.HEALTH;
            case "/readyz" -> Route.READY;
            case "/metrics" -> metricsRoute();
            case "/diagnostics" -> prefixed ? diagnosticsRoute() : Route.OTHER;
            default -> Route.OTHER;
        };
    }

    private static Route posted(String path) {
        return switch (path) {
            case "/stream" -> Route.STREAM;
            case "/subscribe" -> Route.SUBSCRIBE;
            case "/unsubscribe" -> Route.UNSUBSCRIBE;
            case "/publish" -> Route.PUBLISH;
            case "/presence" -> Route.PRESENCE;
            case "/token" -> Route.TOKEN;
            case "/admin/jwks/refresh" -> Route.REFRESH_KEYS;
            case "/admin/shapes/drop" -> Route.DROP_SHAPES;
            default -> Route.OTHER;
        };
    }

    private Route metricsRoute() {
        return switch (context.settings().metricsEndpoint()) {
            case SERVED -> Route.METRICS;
            case HIDDEN -> Route.OTHER;
        };
    }

    private Route diagnosticsRoute() {
        return context.diagnostics().equals(DiagnosticsReport.HIDDEN) ? Route.OTHER : Route.DIAGNOSTICS;
    }

    private void diagnostics(Request request, RequestReader reader) {
        control.administrator(request, reader, () -> {
            Answer answer = report();
            reader.onLoop(() -> reader.respond(answer));
        });
    }

    private Answer report() {
        try {
            return Answer.json(200, context.diagnostics().json());
        } catch (RequestException e) {
            return Answer.error(e.code(), e.getMessage());
        }
    }

    private Answer metrics() {
        return new Answer(
                200,
                Map.of("Content-Type", context.metrics().contentType(), "Cache-Control", "no-store"),
                context.metrics().scrape());
    }

    private Answer readiness() {
        Readiness state = context.readiness().get();
        StringBuilder json = new StringBuilder(200)
                .append("{\"catalog_loaded\":")
                .append(state.catalog() == Readiness.Catalog.LOADED)
                .append(",\"replicating\":")
                .append(state.reader() == Readiness.Reader.REPLICATING)
                .append(",\"streams\":")
                .append(context.streams())
                .append(",\"confirmed_lsn\":\"")
                .append(state.confirmedLsn())
                .append("\",\"reader_lag_seconds\":")
                .append(Math.max(0, Math.round(state.readerLagSeconds() * 1000)) / 1000.0);
        if (state.lag() == Readiness.Lag.DEGRADED) {
            json.append(",\"degraded\":\"reader_lag\"");
        }
        boolean draining = context.isDraining();
        if (draining) {
            json.append(",\"draining\":true");
        }
        boolean ready = !draining && state.verdict() == Readiness.Verdict.READY;
        return Answer.json(ready ? 200 : 503, json.append('}').toString());
    }

    private void other(Request request, RequestReader reader) {
        if (context.extraRoutes().equals(ExtraRoutes.NONE)) {
            notFound(reader);
            return;
        }
        later(
                reader,
                () -> context.extraRoutes()
                        .answer(new ExtraRoutes.Request(
                                request.method().name(),
                                request.path(),
                                request.query(),
                                request.headersByName(),
                                request.bearer(),
                                request.body())));
    }

    private static void notFound(RequestReader reader) {
        reader.refuse(ErrorCode.NOT_FOUND, "no such endpoint");
    }

    /// Something that may block, or compute for long, on its way to an answer.
    private interface Work {
        @Nullable
        Answer answer();
    }

    private void later(RequestReader reader, Work work) {
        later(context, reader, () -> {
            Answer answer = work.answer();
            reader.shard().loop().execute(() -> {
                if (answer == null) {
                    notFound(reader);
                } else {
                    reader.respond(answer);
                }
            });
        });
    }

    /// Runs off the loop; a failure is answered and goes no further.
    static void later(HttpContext context, RequestReader reader, Runnable task) {
        try {
            context.blocking().execute(() -> {
                try {
                    task.run();
                } catch (RuntimeException | Error e) {
                    reader.shard().loop().execute(() -> reader.failed(e));
                }
            });
        } catch (RejectedExecutionException e) {
            reader.refuse(ErrorCode.SERVER_SHUTDOWN, "the server is stopping");
        }
    }

    void logRefusal(Request request, ErrorCode code, String message) {
        if (code == ErrorCode.TOO_MANY_STREAMS || code == ErrorCode.NOT_REPLICATING) {
            context.log().streamRefused(request.requestId(), code, message);
            return;
        }
        context.log()
                .requestRefused(new RefusedRequest(
                        request.requestId(), request.path(), code.httpStatus(), code.wireName(), message));
    }
}
