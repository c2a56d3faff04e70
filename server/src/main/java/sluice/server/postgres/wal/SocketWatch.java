package sluice.server.postgres.wal;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
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
    private final Quiet nothing = new Quiet();
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

    /// Nothing to read now, told as the driver expects it. The driver asks hundreds of times a
    /// second and looks at no
    /// stack, so there is one for each connection.
    private static final class Quiet extends SocketTimeoutException {
        private static final long serialVersionUID = 1L;

        Quiet() {
            super("nothing to read");
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
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
        /// The time-out with which the driver looks whether something has come.
        private static final int LOOK_MILLIS = 1;

        /// How often such a look is a real one: only that sees that the server has ended the connection.
        private static final long REAL_LOOK_NANOS = Duration.ofMillis(100).toNanos();

        /// Without anything from the server for so long, the connection has gone quiet.
        private static final long QUIET_NANOS = Duration.ofMillis(50).toNanos();

        private final SocketWatch watch;
        private long lookedAt;

        WatchedSocket(SocketWatch watch) {
            this.watch = watch;
            this.lookedAt = watch.clock.nanos();
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
                    if (mayAnswerUnread() && in.available() == 0) {
                        throw watch.judge(watch.nothing);
                    }
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

        /// Whether this is one of the looks between two real ones, on a connection that has gone quiet: while
        /// something comes now and then, a look that waits learns of it sooner.
        private boolean mayAnswerUnread() throws SocketException {
            if (getSoTimeout() != LOOK_MILLIS) {
                return false;
            }
            long now = watch.clock.nanos();
            if (now - lookedAt < REAL_LOOK_NANOS && watch.silentNanos() >= QUIET_NANOS) {
                return true;
            }
            lookedAt = now;
            return false;
        }
    }
}
