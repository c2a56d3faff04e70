package sluice.testkit.sse;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import okhttp3.Call;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

/// One stream of an HTTP/2 connection. Bytes that are not read are not asked for, stream by stream.
final class Http2Connection implements StreamConnection {
    private final Call call;
    private final Response response;

    private Http2Connection(Call call, Response response) {
        this.call = call;
        this.response = response;
    }

    static Http2Connection open(OkHttpClient client, SseRequest request) throws IOException {
        Request.Builder builder = new Request.Builder().url(request.uri().toString());
        request.headers().forEach(builder::header);
        RequestBody body = request.method().equals("GET")
                ? null
                : RequestBody.create(request.body(), MediaType.parse("application/json"));
        Call call = client.newCall(builder.method(request.method(), body).build());
        return new Http2Connection(call, call.execute());
    }

    @Override
    public int status() {
        return response.code();
    }

    @Override
    public Map<String, List<String>> headers() {
        Map<String, List<String>> headers = new TreeMap<>();
        response.headers().toMultimap().forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values));
        return headers;
    }

    @Override
    public InputStream body() {
        return response.body().byteStream();
    }

    @Override
    public void close() {
        call.cancel();
    }

    @Override
    public void abort() {
        call.cancel(); // a stream is reset, the connection goes on
    }
}
