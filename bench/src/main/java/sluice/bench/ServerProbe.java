package sluice.bench;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/// Reads the server process from outside, through the JVM's own management beans on a loopback port and `/proc`. The
/// server needs no code for it; what a reading costs it falls outside the windows between readings.
final class ServerProbe implements AutoCloseable {
    private static final int COLLECTIONS = 3;
    private static final Object[] NO_OPTIONS = {new String[0]};
    private static final String[] OPTIONS_TYPE = {String[].class.getName()};

    private final long pid;
    private final JMXConnector connector;
    private final MBeanServerConnection beans;

    private ServerProbe(long pid, JMXConnector connector, MBeanServerConnection beans) {
        this.pid = pid;
        this.connector = connector;
        this.beans = beans;
    }

    /// What the process has used since its start.
    ///
    /// @param cpuNanos user and system time of all threads
    /// @param allocatedBytes by all Java threads, those included that have ended
    record Reading(long cpuNanos, long allocatedBytes) {
        Reading since(Reading before) {
            return new Reading(cpuNanos - before.cpuNanos, allocatedBytes - before.allocatedBytes);
        }
    }

    @SuppressWarnings("BanJNDI") // the address comes from the JVM that was attached to, on this machine
    static ServerProbe attach(long pid) throws IOException, BenchException {
        try {
            VirtualMachine machine = VirtualMachine.attach(Long.toString(pid));
            String address = machine.startLocalManagementAgent();
            machine.detach();
            JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(address));
            return new ServerProbe(pid, connector, connector.getMBeanServerConnection());
        } catch (AttachNotSupportedException e) {
            throw new BenchException("the server's JVM cannot be attached to: " + e.getMessage());
        }
    }

    Reading read() throws IOException, BenchException {
        return new Reading(
                attribute("java.lang:type=OperatingSystem", "ProcessCpuTime"),
                attribute("java.lang:type=Threading", "TotalThreadAllocatedBytes"));
    }

    /// Live objects after several full collections: what finalization and references keep for one
    /// is gone after more.
    Histogram liveHeap() throws IOException, BenchException {
        for (int i = 0; i < COLLECTIONS; i++) {
            command("gcRun");
        }
        return Histogram.of(command("gcClassHistogram"));
    }

    /// Resident memory in bytes, -1 where the system does not say.
    long residentBytes() throws IOException {
        long kilobytes = procNumber("status", "VmRSS:");
        return kilobytes < 0 ? -1 : kilobytes * 1024;
    }

    private long attribute(String bean, String name) throws IOException, BenchException {
        try {
            return (Long) beans.getAttribute(new ObjectName(bean), name);
        } catch (JMException e) {
            throw new BenchException("the server's JVM does not say its " + name);
        }
    }

    private String command(String name) throws IOException, BenchException {
        try {
            ObjectName bean = new ObjectName("com.sun.management:type=DiagnosticCommand");
            boolean takesOptions = name.equals("gcClassHistogram");
            Object answer = takesOptions
                    ? beans.invoke(bean, name, NO_OPTIONS, OPTIONS_TYPE)
                    : beans.invoke(bean, name, new Object[0], new String[0]);
            return String.valueOf(answer);
        } catch (JMException e) {
            throw new BenchException("the server's JVM does not obey " + name + ": " + e.getMessage());
        }
    }

    private long procNumber(String file, String name) throws IOException {
        Path path = Path.of("/proc", Long.toString(pid), file);
        if (!Files.isReadable(path)) {
            return -1;
        }
        try (Stream<String> lines = Files.lines(path)) {
            return lines.filter(line -> line.startsWith(name))
                    .map(line -> line.substring(name.length()).replaceAll("\\D", ""))
                    .mapToLong(Long::parseLong)
                    .findFirst()
                    .orElse(-1);
        }
    }

    @Override
    public void close() throws IOException {
        connector.close();
    }
}
