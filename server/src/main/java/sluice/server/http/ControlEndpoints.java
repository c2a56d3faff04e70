package sluice.server.http;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.ControlAnswer;
import sluice.core.dispatch.ControlRequest;
import sluice.core.dispatch.ShapeSelection;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.event.FrameEncoder;
import sluice.core.session.Identity;
import sluice.core.session.Refusal;
import sluice.server.http.StreamGate.ControlCall;
import sluice.server.http.StreamGate.DropCall;
import sluice.server.jwks.JwksException;
import sluice.server.jwks.Verification;

/// Requests about streams that are open, and the administrators' own.
///
/// The order of checks is part of the contract: token, body, then what only the engine knows. Requests wait for the
/// engine's answer, one for each connection at most; whoever hung up meanwhile is not answered.
final class ControlEndpoints {
    /// The role whose tokens may ask about the server itself.
    static final String ADMINISTRATORS = "service_role";

    private static final String STREAM_ID_HEADER = "Sluice-Stream-Id";

    private final HttpContext context;
    private final AtomicLong lastNumber = new AtomicLong();
    private final Map<Long, RequestReader> waitingByNumber = new ConcurrentHashMap<>();

    ControlEndpoints(HttpContext context) {
        this.context = context;
    }

    void subscribe(Request request, RequestReader reader) {
        control(request, reader, ControlBody::subscribe);
    }

    void unsubscribe(Request request, RequestReader reader) {
        control(request, reader, ControlBody::unsubscribe);
    }

    void publish(Request request, RequestReader reader) {
        long payloadBytesMax = context.settings().limits().payloadBytesMax();
        control(request, reader, body -> ChannelBody.publish(body, payloadBytesMax));
    }

    void presence(Request request, RequestReader reader) {
        control(request, reader, ChannelBody::presence);
    }

    /// Token, body, then the engine.
    private void control(Request request, RequestReader reader, Function<byte[], ControlBody> body) {
        String bearer = request.bearer();
        if (bearer == null) {
            StreamOpening.unauthorized(reader, "a bearer token is required");
            return;
        }
        verified(reader, bearer, caller -> {
            ControlBody read = body.apply(request.body());
            ask(request, reader, streamId(request, read.streamId()), caller, read.request());
        });
    }

    /// Takes the token of the body, and the stream's id from there only.
    void token(Request request, RequestReader reader) {
        ControlBody.Token body;
        try {
            body = ControlBody.Token.of(request.body());
        } catch (RequestException e) {
            reader.refuse(e.code(), e.getMessage());
            return;
        }
        Endpoints.later(context, reader, () -> {
            Verification verification = context.verifier().verify(body.accessToken());
            SessionCheck.Outcome session = verification instanceof Verification.Verified(Identity caller)
                            && context.sessions().mustAsk(caller)
                    ? context.sessions().ask(caller)
                    : SessionCheck.Outcome.PRESENT;
            reader.onLoop(() -> {
                if (!StreamOpening.refusesSession(reader, session)) {
                    verified(
                            reader,
                            verification,
                            caller -> ask(request, reader, body.streamId(), caller, new ControlRequest.Token()));
                }
            });
        });
    }

    /// Goes on with a verified caller, on the reader's loop.
    private void verified(RequestReader reader, String bearer, Consumer<Identity> then) {
        Endpoints.later(context, reader, () -> {
            Verification verification = context.verifier().verify(bearer);
            reader.onLoop(() -> verified(reader, verification, then));
        });
    }

    private static void verified(RequestReader reader, Verification verification, Consumer<Identity> then) {
        switch (verification) {
            case Verification.Refused(String reason) -> StreamOpening.unauthorized(reader, reason);
            case Verification.Verified(Identity identity) -> then.accept(identity);
        }
    }

    private static String streamId(Request request, @Nullable String inBody) {
        String inHeader = request.headers().get(STREAM_ID_HEADER);
        if (inHeader != null && inHeader.isBlank()) {
            inHeader = null;
        }
        if (inBody != null && inHeader != null && !inBody.equals(inHeader)) {
            throw new RequestException(
                    ErrorCode.STREAM_ID_MISMATCH, "\"stream_id\" and the header name different streams");
        }
        String named = inBody != null ? inBody : inHeader;
        if (named == null) {
            throw JsonBody.bad("\"stream_id\" is missing");
        }
        return named;
    }

    private void ask(Request request, RequestReader reader, String streamId, Identity caller, ControlRequest asked) {
        if (!reader.isWaitingForAnswer()) {
            return;
        }
        long number = number(reader);
        context.gate().control(new ControlCall(number, streamId, caller, asked, request.requestId()));
    }

    private long number(RequestReader reader) {
        long number = lastNumber.incrementAndGet();
        waitingByNumber.put(number, reader);
        return number;
    }

    /// The engine's answer; any thread.
    void answered(long number, ControlAnswer answer) {
        RequestReader reader = waitingByNumber.remove(number);
        if (reader != null) {
            reader.shard().loop().execute(() -> respond(reader, answer));
        }
    }

    private static void respond(RequestReader reader, ControlAnswer answer) {
        switch (answer) {
            case ControlAnswer.Refused(var code, var message, var retryAfterMillis) ->
                reader.refuse(
                        code,
                        message,
                        retryAfterMillis == null
                                ? Map.of()
                                : Map.of("Retry-After", Long.toString(Math.ceilDiv(retryAfterMillis, 1000L))));
            case ControlAnswer.Subscribed(var results, var walLsn) ->
                reader.respond(
                        Answer.json(200, new String(FrameEncoder.subscribed(results, walLsn), StandardCharsets.UTF_8)));
            case ControlAnswer.Removed(var count) -> reader.respond(Answer.json(200, "{\"removed\":" + count + "}"));
            case ControlAnswer.Delivered(var count) ->
                reader.respond(Answer.json(200, "{\"delivered\":" + count + "}"));
            case ControlAnswer.Done() -> reader.respond(Answer.json(200, "{\"ok\":true}"));
            case ControlAnswer.TokenTaken(var revoked) ->
                reader.respond(Answer.json(200, "{\"ok\":true,\"revoked_subscriptions\":" + revoked + "}"));
            case ControlAnswer.Dropped(var count) -> reader.respond(Answer.json(200, "{\"dropped\":" + count + "}"));
        }
    }

    void dropShapes(Request request, RequestReader reader) {
        administrator(request, reader, () -> {
            ShapeSelection selection = ControlBody.selection(request.body());
            reader.onLoop(() -> {
                if (reader.isWaitingForAnswer()) {
                    context.gate().drop(new DropCall(number(reader), selection, request.requestId()));
                }
            });
        });
    }

    void refreshKeys(Request request, RequestReader reader) {
        administrator(request, reader, () -> {
            Answer answer;
            try {
                int symmetric = context.verifier().refreshKeys();
                answer = Answer.json(
                        200,
                        symmetric == 0
                                ? "{\"ok\":true}"
                                : "{\"ok\":true,\"warning\":\"the key set holds symmetric keys, which are never"
                                        + " loaded\"}");
            } catch (JwksException e) {
                reader.onLoop(() -> reader.refuse(
                        ErrorCode.JWKS_REFRESH_FAILED, "the key set could not be fetched; the known keys stay"));
                return;
            }
            reader.onLoop(() -> reader.respond(answer));
        });
    }

    /// Does something for the administrators' role only, on a thread that may block. Whatever is
    /// wrong with a token,
    /// the answer is the same.
    void administrator(Request request, RequestReader reader, Runnable work) {
        String bearer = request.bearer();
        if (bearer == null) {
            forbidden(reader);
            return;
        }
        Endpoints.later(context, reader, () -> {
            Refusal refusal = null;
            boolean administrator = false;
            if (context.verifier().verify(bearer) instanceof Verification.Verified(Identity identity)) {
                administrator = identity.role().equals(ADMINISTRATORS);
                refusal = context.verifier().refusal(identity);
            }
            if (administrator && refusal == Refusal.UNSEEN) {
                reader.onLoop(() -> reader.refuse(ErrorCode.SESSION_CHECK_UNAVAILABLE, Refusal.UNSEEN.message()));
                return;
            }
            if (!administrator || refusal != null) {
                reader.onLoop(() -> forbidden(reader));
                return;
            }
            try {
                work.run();
            } catch (RequestException e) {
                reader.onLoop(() -> reader.refuse(e.code(), e.getMessage()));
            }
        });
    }

    private static void forbidden(RequestReader reader) {
        reader.refuse(ErrorCode.FORBIDDEN, "a token of role \"" + ADMINISTRATORS + "\" is required");
    }
}
