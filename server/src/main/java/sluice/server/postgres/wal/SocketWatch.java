package sluice.server.postgres.wal;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.SocketFactory;

/// Breaks a connection on which nothing arrives for too long, in the middle of a message too.
///
/// The driver answers keepalives without telling, and takes a time-out of its socket for a quiet moment, so only at
/// the socket can be seen whether the server is still there. The connecting thread says whose watch it is by
/// {@link #CURRENT}; the driver makes the factory itself, by name. Used on the thread that reads the connection.
final class SocketWatch {
    /// The watch of the connection that the current thread is making.
    static final ScopedValue<SocketWatch> CURRENT = ScopedValue.newInstance();

    private final ReaderClock clock;
    private long silentNanosMax = Long.MAX_VALUE;
    private final AtomicLong heardAt = new AtomicLong();

    SocketWatch(ReaderClock clock) {
        this.clock = clock;
        this.heardAt.set(clock.nanos());
    }

    /// Sets how long silence is borne, starting now.
    void limitSilence(long nanos) {
        silentNanosMax = nanos;
        heardAt.set(clock.nanos());
    }

    /// How long nothing has come; any thread.
    long silentNanos() {
        return clock.nanos() - heardAt.get();
    }

    /// Starts over: nobody has listened until now.
    void listenAnew() {
        heardAt.lazySet(clock.nanos());
    }

    private void heard(int count) {
        if (count > 0) {
            heardAt.lazySet(clock.nanos());
        }
    }

    private IOException judge(SocketTimeoutException quiet) {
        return silentNanos() > silentNanosMax
                ? new IOException("nothing came from the server for too long", quiet)
                : quiet;
    }

    /// What the driver makes its sockets with.
    public static final class Factory extends SocketFactory {
        @Override
        public Socket createSocket() {
            return CURRENT.isBound() ? new WatchedSocket(CURRENT.get()) : new Socket();
        }

        @Override
        public Socket createSocket(String host, int port) throws IOException {
            return new Socket(host, port);
        }

        @Override
        public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
            return new Socket(host, port, localHost, localPort);
        }

        @Override
        public Socket createSocket(InetAddress host, int port) throws IOException {
            return new Socket(host, port);
        }

        @Override
        public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort)
                throws IOException {
            return new Socket(host, port, localHost, localPort);
        }
    }

    private static final class WatchedSocket extends Socket {
        private final SocketWatch watch;

        WatchedSocket(SocketWatch watch) {
            this.watch = watch;
        }

        @Override
        public InputStream getInputStream() throws IOException {
            return new FilterInputStream(super.getInputStream()) {
                @Override
                public int read() throws IOException {
                    byte[] one = new byte[1];
                    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
                }

                @Override
                public int read(byte[] target, int offset, int length) throws IOException {
                    try {
                        int count = in.read(target, offset, length);
                        watch.heard(count);
                        return count;
                    } catch (SocketTimeoutException e) {
                        throw watch.judge(e);
                    }
                }
            };
        }
    }
}
