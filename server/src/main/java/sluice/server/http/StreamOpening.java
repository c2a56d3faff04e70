package sluice.server.http;

import java.util.Map;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.session.Identity;
import sluice.core.session.Refusal;
import sluice.server.http.StreamGate.OpenStream;
import sluice.server.jwks.Verification;
import sluice.server.metrics.Metrics.StreamRefusal;

/// `POST /stream`, up to the point where the engine decides.
///
/// The order of checks is part of the contract: token, stopping, not replicating, too many streams, the session, then
/// the body.
/// The token is looked at off the loop, since its key may have to be fetched; everything after that is on the loop.
final class StreamOpening {
    private static final int FULL_RETRY_SECONDS_MIN = 5;
    private static final int FULL_RETRY_SECONDS_MAX = 15;

    private final HttpContext context;

    StreamOpening(HttpContext context) {
        this.context = context;
    }

    void open(Request request, RequestReader reader) {
        String bearer = request.bearer();
        if (bearer == null) {
            unauthorized(reader, "a bearer token is required");
            return;
        }
        Endpoints.later(context, reader, () -> {
            Verification verification = context.verifier().verify(bearer);
            reader.shard().loop().execute(() -> {
                try {
                    verified(request, reader, verification);
                } catch (RuntimeException e) {
                    reader.failed(e);
                }
            });
        });
    }

    static void unauthorized(RequestReader reader, String reason) {
        reader.refuse(ErrorCode.UNAUTHORIZED, reason);
    }

    private void verified(Request request, RequestReader reader, Verification verification) {
        switch (verification) {
            case Verification.Refused(String reason) -> unauthorized(reader, reason);
            case Verification.Verified(Identity identity) -> admit(request, reader, identity);
        }
    }

    private void admit(Request request, RequestReader reader, Identity identity) {
        if (!reader.isWaitingForAnswer()) {
            return;
        }
        if (context.isDraining()) {
            reader.refuse(ErrorCode.SERVER_SHUTDOWN, "the server is stopping");
            return;
        }
        StreamGate.Refusal refusal = context.gate().admit(context.streams());
        if (refusal != null) {
            context.metrics().streamRefused(refusal.reason());
            refuse(reader, refusal.code(), refusal.message());
            return;
        }
        if (!context.reserveStream()) {
            context.metrics().streamRefused(StreamRefusal.MAX_STREAMS);
            refuse(
                    reader,
                    ErrorCode.TOO_MANY_STREAMS,
                    "this server holds as many streams as it may (SLUICE_MAX_STREAMS); try again later");
            return;
        }
        if (!context.sessions().mustAsk(identity)) {
            begin(request, reader, identity);
            return;
        }
        Endpoints.later(context, reader, () -> {
            SessionCheck.Outcome outcome = asked(identity);
            reader.shard().loop().execute(() -> {
                try {
                    lookedUp(request, reader, identity, outcome);
                } catch (RuntimeException e) {
                    reader.failed(e);
                }
            });
        });
    }

    private SessionCheck.Outcome asked(Identity identity) {
        try {
            return context.sessions().ask(identity);
        } catch (RuntimeException | Error e) {
            context.streamGone();
            throw e;
        }
    }

    /// Whoever finds the server full is not sent back in the same second as everybody else.
    private void refuse(RequestReader reader, ErrorCode code, String message) {
        if (code == ErrorCode.TOO_MANY_STREAMS) {
            int seconds = context.random().nextInt(FULL_RETRY_SECONDS_MIN, FULL_RETRY_SECONDS_MAX + 1);
            reader.refuse(code, message, Map.of("Retry-After", Integer.toString(seconds)));
        } else {
            reader.refuse(code, message);
        }
    }

    private void lookedUp(Request request, RequestReader reader, Identity identity, SessionCheck.Outcome outcome) {
        if (refusesSession(reader, outcome) || !reader.isWaitingForAnswer()) {
            context.streamGone();
        } else {
            begin(request, reader, identity);
        }
    }

    /// Refuses a request whose caller's session was not found.
    ///
    /// @return whether it did
    static boolean refusesSession(RequestReader reader, SessionCheck.Outcome outcome) {
        switch (outcome) {
            case PRESENT -> {
                return false;
            }
            case MISSING -> unauthorized(reader, Refusal.SESSION_REVOKED.message());
            case BANNED -> unauthorized(reader, Refusal.USER_BANNED.message());
            case UNAVAILABLE ->
                reader.refuse(ErrorCode.SESSION_CHECK_UNAVAILABLE, "the session could not be looked up; try again");
        }
        return true;
    }

    /// Room for the stream is reserved.
    private void begin(Request request, RequestReader reader, Identity identity) {
        SubscriptionsBody.Opening body;
        try {
            body = SubscriptionsBody.Opening.of(request.body());
        } catch (RequestException e) {
            context.streamGone();
            reader.refuse(e.code(), e.getMessage());
            return;
        }
        SseStream stream = new SseStream(
                reader.shard(),
                reader,
                context.newStreamId(),
                request.requestId(),
                identity.expiresAt().toEpochMilli());
        reader.becomes(stream);
        context.gate()
                .open(new OpenStream(stream, identity, body.subscriptions(), body.framing(), request.requestId()));
    }
}
