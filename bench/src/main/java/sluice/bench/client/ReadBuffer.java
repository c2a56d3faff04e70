package sluice.bench.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/// What every read of every stream goes through. One thread's; the content lasts until the next read.
final class ReadBuffer {
    private static final int BYTES = 256 * 1024;

    private final ByteBuffer direct = ByteBuffer.allocateDirect(BYTES);
    private final byte[] bytes = new byte[BYTES];
    private final Assembly assembly = new Assembly();

    /// @return how many bytes came, -1 at the end
    int fill(SocketChannel channel) throws IOException {
        direct.clear();
        int length = channel.read(direct);
        if (length > 0) {
            direct.get(0, bytes, 0, length);
        }
        return length;
    }

    /// Owned by this buffer; valid up to the length that `fill` returned.
    byte[] bytes() {
        return bytes;
    }

    Assembly assembly() {
        return assembly;
    }
}
