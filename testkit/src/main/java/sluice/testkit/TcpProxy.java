package sluice.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/// Stands between a client and a server on the loopback address and misbehaves as told.
///
/// Passing, it forwards. Stalled, it holds all bytes of a direction and keeps connections open: a network that
/// swallows packets. Refusing, it closes each new connection at once: a server that is down. Cutting resets all
/// connections there are; half closing ends one direction of them, as if one side had said its last word, and keeps
/// the other.
public final class TcpProxy implements AutoCloseable {
    public enum Direction {
        TO_SERVER,
        TO_CLIENT
    }

    private final ServerSocket listener;
    private volatile InetSocketAddress server;
    private final List<Pair> pairs = new CopyOnWriteArrayList<>();
    private final AtomicLong accepted = new AtomicLong();
    private final Valve toServer = new Valve();
    private final Valve toClient = new Valve();
    private volatile boolean refusing;
    private volatile boolean closed;

    private TcpProxy(ServerSocket listener, InetSocketAddress server) {
        this.listener = listener;
        this.server = server;
    }

    public static TcpProxy to(int serverPort) {
        try {
            InetAddress loopback = InetAddress.getLoopbackAddress();
            TcpProxy proxy =
                    new TcpProxy(new ServerSocket(0, 200, loopback), new InetSocketAddress(loopback, serverPort));
            Thread.ofVirtual().name("proxy-accept").start(proxy::accept);
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public int port() {
        return listener.getLocalPort();
    }

    /// Connections taken so far, refused ones included.
    public long accepted() {
        return accepted.get();
    }

    public int open() {
        return pairs.size();
    }

    public long bytes(Direction direction) {
        return valve(direction).bytes.get();
    }

    /// Leads new connections to another port; those there are stay where they are.
    public void lead(int serverPort) {
        server = new InetSocketAddress(InetAddress.getLoopbackAddress(), serverPort);
    }

    /// Resets every connection, on both sides.
    public void cut() {
        pairs.forEach(Pair::reset);
    }

    /// Ends one direction of every connection: the side it leads to reads an end, what is still sent that way is
    /// lost, and the other direction stays until somebody closes it.
    public void halfClose(Direction direction) {
        for (Pair pair : pairs) {
            try {
                pair.halfClose(direction);
            } catch (IOException e) {
                pair.reset();
            }
        }
    }

    /// Cuts each connection as soon as so many more bytes have gone that way in all: in the middle of a message.
    public void cutAfter(Direction direction, long bytes) {
        valve(direction).cutAt(bytes);
    }

    public void refuse() {
        refusing = true;
    }

    public void stall(Direction direction) {
        valve(direction).hold();
    }

    /// Everything passes again; what was held goes first.
    public void pass() {
        refusing = false;
        toServer.open();
        toClient.open();
    }

    /// Each piece of data waits so long before it goes on.
    public void delay(Direction direction, Duration each) {
        valve(direction).delayNanos = each.toNanos();
    }

    @Override
    public void close() {
        closed = true;
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            pass();
            cut();
        }
    }

    private Valve valve(Direction direction) {
        return switch (direction) {
            case TO_SERVER -> toServer;
            case TO_CLIENT -> toClient;
        };
    }

    private void accept() {
        while (!closed) {
            try {
                Socket client = listener.accept();
                accepted.incrementAndGet();
                if (refusing) {
                    reset(client);
                } else {
                    connect(client);
                }
            } catch (IOException e) {
                // Closed, or a client that left at once.
            }
        }
    }

    private void connect(Socket client) {
        Socket upstream = new Socket();
        try {
            upstream.connect(server);
            client.setTcpNoDelay(true);
            upstream.setTcpNoDelay(true);
        } catch (IOException e) {
            reset(upstream);
            reset(client);
            return;
        }
        Pair pair = new Pair(client, upstream);
        pairs.add(pair);
        Thread.ofVirtual().name("proxy-to-server").start(() -> pump(pair, Direction.TO_SERVER));
        Thread.ofVirtual().name("proxy-to-client").start(() -> pump(pair, Direction.TO_CLIENT));
    }

    private void pump(Pair pair, Direction direction) {
        byte[] buffer = new byte[64 * 1024];
        Valve valve = valve(direction);
        try {
            InputStream in = pair.from(direction).getInputStream();
            OutputStream out = pair.to(direction).getOutputStream();
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                Passage passage = valve.pass(read);
                pair.write(direction, out, buffer, passage.bytes());
                if (passage.thenCut()) {
                    pair.reset();
                    return;
                }
            }
            valve.awaitOpen();
            pair.halfClose(direction);
            if (pair.oneSideEnded()) {
                pair.close();
            }
        } catch (IOException | InterruptedException e) {
            pair.reset();
        }
    }

    private record Passage(int bytes, boolean thenCut) {}

    private static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
            socket.close();
        } catch (IOException e) {
            // Already gone.
        }
    }

    private final class Pair {
        private final Socket client;
        private final Socket upstream;
        private final AtomicLong ended = new AtomicLong();
        private final Set<Direction> halfClosed = ConcurrentHashMap.newKeySet();

        Pair(Socket client, Socket upstream) {
            this.client = client;
            this.upstream = upstream;
        }

        Socket from(Direction direction) {
            return switch (direction) {
                case TO_SERVER -> client;
                case TO_CLIENT -> upstream;
            };
        }

        Socket to(Direction direction) {
            return switch (direction) {
                case TO_SERVER -> upstream;
                case TO_CLIENT -> client;
            };
        }

        void halfClose(Direction direction) throws IOException {
            if (halfClosed.add(direction)) {
                to(direction).shutdownOutput();
            }
        }

        /// What comes after the end of its direction is lost.
        void write(Direction direction, OutputStream out, byte[] buffer, int length) throws IOException {
            try {
                if (!halfClosed.contains(direction)) {
                    out.write(buffer, 0, length);
                }
            } catch (IOException e) {
                if (!halfClosed.contains(direction)) {
                    throw e;
                }
            }
        }

        /// Whether the other side had ended before.
        boolean oneSideEnded() {
            return ended.incrementAndGet() == 2;
        }

        void close() throws IOException {
            pairs.remove(this);
            client.close();
            upstream.close();
        }

        void reset() {
            pairs.remove(this);
            TcpProxy.reset(client);
            TcpProxy.reset(upstream);
        }
    }

    /// One direction of all connections.
    private static final class Valve {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition opened = lock.newCondition();
        private final AtomicLong bytes = new AtomicLong();
        private boolean holding;
        private long cutAt = Long.MAX_VALUE;
        private volatile long delayNanos;

        void hold() {
            lock.lock();
            try {
                holding = true;
            } finally {
                lock.unlock();
            }
        }

        void open() {
            lock.lock();
            try {
                holding = false;
                delayNanos = 0;
                opened.signalAll();
            } finally {
                lock.unlock();
            }
        }

        void cutAt(long more) {
            lock.lock();
            try {
                cutAt = bytes.get() + more;
            } finally {
                lock.unlock();
            }
        }

        void awaitOpen() throws InterruptedException {
            lock.lockInterruptibly();
            try {
                while (holding) {
                    opened.await();
                }
            } finally {
                lock.unlock();
            }
        }

        /// Waits as told and says how many of the bytes may pass.
        Passage pass(int length) throws InterruptedException {
            if (delayNanos > 0) {
                LockSupport.parkNanos(delayNanos);
            }
            lock.lockInterruptibly();
            try {
                while (holding) {
                    opened.await();
                }
                long left = cutAt - bytes.get();
                if (left > length) {
                    bytes.addAndGet(length);
                    return new Passage(length, false);
                }
                bytes.addAndGet(left);
                cutAt = Long.MAX_VALUE;
                return new Passage((int) left, true);
            } finally {
                lock.unlock();
            }
        }
    }
}
