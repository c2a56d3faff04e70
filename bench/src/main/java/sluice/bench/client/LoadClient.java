package sluice.bench.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/// Opens many streams on one thread and judges what they receive.
///
/// It opens all streams and says `opened`; then it obeys one line after the other on its
/// standard input: `start` begins a
/// window; `report ROWS MILLIS` waits until every stream has the rows 1 to ROWS, or for so long, and says what the
/// window brought; `close` ends it. It also ends when its input does, and after {@link #LIFE_MILLIS}.
public final class LoadClient {
    /// Streams that are being opened at one time: what an impatient crowd does, and no connection waits for long.
    private static final int OPENING_MAX = 64;

    private static final int COMMANDS_MAX = 16;
    private static final long LIFE_MILLIS = 60 * 60 * 1000;
    private static final long OPENING_MILLIS_MAX = 5 * 60 * 1000;
    private static final long PAUSE_MILLIS = 20;

    /// More than this from one address and the ports of one address could run out.
    private static final int STREAMS_PER_ADDRESS = 10_000;

    private final LoadOptions options;
    private final List<String> requests;
    private final PrintStream out;
    private final Totals totals = new Totals();
    private final List<ClientStream> streams = new ArrayList<>();
    private final ReadBuffer buffer = new ReadBuffer();
    private final Selector selector;
    private final BlockingQueue<String> commands = new ArrayBlockingQueue<>(COMMANDS_MAX);

    LoadClient(LoadOptions options, PrintStream out) throws IOException {
        this.options = options;
        this.out = out;
        this.requests = Files.readAllLines(options.requests(), StandardCharsets.UTF_8);
        this.selector = Selector.open();
        if (requests.size() > LoadOptions.STREAMS_MAX) {
            throw new IllegalArgumentException("at most " + LoadOptions.STREAMS_MAX + " streams");
        }
    }

    public static void main(String[] arguments) throws IOException {
        LoadClient client = new LoadClient(LoadOptions.of(arguments), System.out);
        Thread.ofPlatform().daemon().name("commands").start(client::readCommands);
        System.exit(client.run() ? 0 : 1);
    }

    private void readCommands() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                command(line);
            }
        } catch (IOException e) {
            out.println("failed commands cannot be read: " + e.getMessage());
        }
        command("close");
    }

    /// Gives the client something to do. Any thread.
    void command(String line) {
        if (!commands.offer(line)) {
            throw new IllegalStateException("too many commands wait");
        }
        selector.wakeup();
    }

    /// Blocks until told to close, or until the time is over.
    ///
    /// @return false when streams could not be opened
    boolean run() throws IOException {
        long started = System.nanoTime();
        boolean opened = openAll(started);
        long millis = elapsedMillis(started);
        out.println(
                opened
                        ? "opened streams=" + streams.size() + " millis=" + millis
                        : "failed " + (totals.failures() == 0 ? "opening took too long" : totals.firstFailure()));
        out.flush();
        while (opened && elapsedMillis(started) < LIFE_MILLIS) {
            String command = commands.poll();
            if (command == null) {
                selector.select(this::handle, PAUSE_MILLIS);
            } else if (command.equals("close")) {
                break;
            } else {
                obey(command);
            }
        }
        streams.forEach(ClientStream::close);
        selector.close();
        return opened;
    }

    private boolean openAll(long started) throws IOException {
        while (totals.decided() < requests.size() && elapsedMillis(started) < OPENING_MILLIS_MAX) {
            while (streams.size() < requests.size() && streams.size() - totals.decided() < OPENING_MAX) {
                open();
            }
            selector.select(this::handle, PAUSE_MILLIS);
            if (totals.streamsRefused() > 0) {
                return false;
            }
        }
        return totals.decided() == requests.size();
    }

    private void open() throws IOException {
        String[] request = requests.get(streams.size()).split("\t", 2);
        SocketChannel channel = SocketChannel.open();
        channel.configureBlocking(false);
        if (requests.size() > STREAMS_PER_ADDRESS) {
            channel.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0." + (1 + streams.size() % 4)), 0));
        }
        ClientStream stream = new ClientStream(channel, httpRequest(request[0], request[1]), totals);
        streams.add(stream);
        channel.register(selector, SelectionKey.OP_CONNECT, stream);
        channel.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), options.port()));
    }

    private byte[] httpRequest(String token, String body) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        return ("POST " + options.path() + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token
                        + "\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: "
                        + bytes.length + "\r\n\r\n" + body)
                .getBytes(StandardCharsets.UTF_8);
    }

    private void handle(SelectionKey key) {
        ClientStream stream = (ClientStream) key.attachment();
        boolean goesOn = key.isConnectable() ? stream.connected(key) : stream.readable(buffer);
        if (!goesOn) {
            key.cancel();
            stream.close();
        }
    }

    private void obey(String command) throws IOException {
        String[] words = command.split(" ");
        switch (words[0]) {
            case "start" -> {
                totals.startWindow();
                out.println("started");
            }
            case "report" -> report(Integer.parseInt(words[1]), Long.parseLong(words[2]));
            default -> out.println("failed no such command");
        }
        out.flush();
    }

    private void report(int rows, long millisMax) throws IOException {
        long started = System.nanoTime();
        long wanted = (long) rows * streams.size();
        while (totals.distinctRows() < wanted && elapsedMillis(started) < millisMax) {
            selector.select(this::handle, PAUSE_MILLIS);
        }
        // Once more, for what came twice.
        selector.select(this::handle, PAUSE_MILLIS);
        long lost = 0;
        for (ClientStream stream : streams) {
            lost += stream.missing(rows);
        }
        out.println("report " + totals.line(lost));
        if (totals.failures() > 0) {
            System.err.println("load client: " + totals.failures() + " failures, the first: " + totals.firstFailure());
        }
    }

    private static long elapsedMillis(long startedNanos) {
        return (System.nanoTime() - startedNanos) / 1_000_000;
    }
}
