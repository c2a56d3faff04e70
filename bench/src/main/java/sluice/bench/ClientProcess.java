package sluice.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import sluice.bench.client.LoadClient;
import sluice.bench.client.LoadOptions;

/// The load client, started and asked. It ends with this process, however this one ends: it reads a pipe from it.
final class ClientProcess implements AutoCloseable {
    private static final long END_SECONDS = 30;

    private final Process process;
    private final BufferedReader answers;
    private final Writer commands;
    private long openedMillis;

    private ClientProcess(Process process) {
        this.process = process;
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        this.commands = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
    }

    /// Blocks until all streams are open.
    static ClientProcess start(int port, Path requests) throws IOException, BenchException {
        List<String> command = new ArrayList<>(List.of(
                ServerProcess.java(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                LoadClient.class.getName()));
        command.addAll(Arrays.asList(new LoadOptions(port, ServerProcess.PREFIX + "/stream", requests).arguments()));
        ClientProcess client = new ClientProcess(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
        try {
            client.openedMillis = (long)
                    numbers(client.answer("opened")).getOrDefault("millis", 0.0).doubleValue();
        } catch (BenchException e) {
            client.close();
            throw e;
        }
        return client;
    }

    private String answer(String expected) throws IOException, BenchException {
        String line = answers.readLine();
        if (line == null || !line.startsWith(expected)) {
            throw new BenchException("the load client says: " + (line == null ? "nothing, and has ended" : line));
        }
        return line;
    }

    private void say(String command) throws IOException {
        commands.write(command + "\n");
        commands.flush();
    }

    long openedMillis() {
        return openedMillis;
    }

    /// CPU time it has used.
    Duration cpu() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /// Delays and reads are counted from now.
    void startWindow() throws IOException, BenchException {
        say("start");
        answer("started");
    }

    /// Waits until every stream has the rows 1 to `rows`, or half a minute.
    ///
    /// @return by the names that the client prints
    Map<String, Double> report(int rows) throws IOException, BenchException {
        say("report " + rows + " 30000");
        return numbers(answer("report"));
    }

    private static Map<String, Double> numbers(String line) {
        Map<String, Double> numbers = new LinkedHashMap<>();
        for (String word : line.split(" ")) {
            int equals = word.indexOf('=');
            if (equals > 0) {
                numbers.put(word.substring(0, equals), Double.valueOf(word.substring(equals + 1)));
            }
        }
        return numbers;
    }

    @Override
    public void close() throws IOException {
        commands.close();
        try {
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
