package sluice.testkit.sse;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;

/// How streams reach the server. Streams over the same HTTP/2 transport share one connection.
public sealed interface Transport {
    StreamConnection open(SseRequest request) throws IOException;

    static Transport http1() {
        return new Http1();
    }

    /// HTTP/2 without TLS and without asking first.
    static Transport http2() {
        return new Http2(new OkHttpClient.Builder()
                .protocols(List.of(Protocol.H2_PRIOR_KNOWLEDGE))
                .readTimeout(Duration.ZERO)
                .writeTimeout(Duration.ZERO)
                .retryOnConnectionFailure(false)
                .build());
    }

    record Http1() implements Transport {
        @Override
        public StreamConnection open(SseRequest request) throws IOException {
            return Http1Connection.open(request);
        }
    }

    record Http2(OkHttpClient client) implements Transport {
        @Override
        public StreamConnection open(SseRequest request) throws IOException {
            return Http2Connection.open(client, request);
        }
    }
}
