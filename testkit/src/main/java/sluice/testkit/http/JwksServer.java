package sluice.testkit.http;

import java.net.URI;
import java.util.List;

/// Publishes the public keys of token signers, and can rotate them, fail or keep silent.
public final class JwksServer implements AutoCloseable {
    private static final String PATH = "/.well-known/jwks.json";

    private final StubServer server;

    private JwksServer(StubServer server) {
        this.server = server;
    }

    public static JwksServer publishing(TokenSigner... signers) {
        return new JwksServer(StubServer.start(asked -> keys(signers)));
    }

    private static StubServer.Answer keys(TokenSigner... signers) {
        return StubServer.Answer.json(200, TokenSigner.jwks(List.of(signers)));
    }

    public URI uri() {
        return server.uri(PATH);
    }

    public int requests() {
        return server.asked().size();
    }

    /// From now on only these keys.
    public void publish(TokenSigner... signers) {
        server.answer(asked -> keys(signers));
    }

    /// From now on this status and no keys.
    public void fail(int status) {
        server.answer(asked -> StubServer.Answer.status(status));
    }

    /// From now on this text, whatever it is.
    public void publishText(String text) {
        server.answer(asked -> StubServer.Answer.json(200, text));
    }

    public void hold() {
        server.hold();
    }

    public void release() {
        server.release();
    }

    @Override
    public void close() {
        server.close();
    }
}
