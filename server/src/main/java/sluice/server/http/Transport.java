package sluice.server.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.kqueue.KQueue;
import io.netty.channel.kqueue.KQueueIoHandler;
import io.netty.channel.kqueue.KQueueServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;

/// The one place that chooses sockets and event loops.
enum Transport {
    EPOLL(EpollServerSocketChannel.class),
    KQUEUE(KQueueServerSocketChannel.class),
    NIO(NioServerSocketChannel.class);

    private final Class<? extends ServerSocketChannel> serverChannel;

    Transport(Class<? extends ServerSocketChannel> serverChannel) {
        this.serverChannel = serverChannel;
    }

    static Transport of(HttpSettings.TransportChoice choice) {
        return switch (choice) {
            case PORTABLE -> NIO;
            case BEST -> Epoll.isAvailable() ? EPOLL : KQueue.isAvailable() ? KQUEUE : NIO;
        };
    }

    Class<? extends ServerSocketChannel> serverChannel() {
        return serverChannel;
    }

    /// Has the kernel give up every connection whose peer takes or acknowledges nothing for this long while
    /// something is on its way to it: a heartbeat is enough. Where there is no such option the kernel's own
    /// time stands, a quarter of an hour on Linux.
    void boundSilence(ServerBootstrap bootstrap, Duration silence) {
        if (this == EPOLL) {
            bootstrap.childOption(
                    EpollChannelOption.TCP_USER_TIMEOUT, (int) Math.min(Integer.MAX_VALUE, silence.toMillis()));
        }
    }

    /// @param threads makes the loops' threads, so that whoever starts the server knows all of them
    EventLoopGroup loops(int count, ThreadFactory threads) {
        // without it the buffer pools treat the loops as strangers and recycle nothing for them
        ThreadFactory known = task -> threads.newThread(() -> FastThreadLocalThread.runWithFastThreadLocal(task));
        IoHandlerFactory handlers = switch (this) {
            case EPOLL -> EpollIoHandler.newFactory();
            case KQUEUE -> KQueueIoHandler.newFactory();
            case NIO -> NioIoHandler.newFactory();
        };
        return new MultiThreadIoEventLoopGroup(count, known, handlers);
    }
}
