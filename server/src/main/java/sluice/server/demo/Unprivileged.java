package sluice.server.demo;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// How PostgreSQL's programs are started: they refuse to run as root.
///
/// An ordinary user starts them plainly. Root takes a user namespace, in which it is nobody
/// in particular and still owns
/// its files. Where namespaces are blocked (many containers) root becomes the user `nobody`, who then owns the data.
final class Unprivileged {
    private static final String NOBODY = "nobody";

    private final List<String> prefix;
    private final @Nullable String newOwner;

    private Unprivileged(List<String> prefix, @Nullable String newOwner) {
        this.prefix = List.copyOf(prefix);
        this.newOwner = newOwner;
    }

    /// @throws DemoException for root without a way to stop being root
    static Unprivileged here() throws DemoException {
        if (!Command.run(List.of("id", "-u")).output().strip().equals("0")) {
            return new Unprivileged(List.of(), null);
        }
        if (Command.run(List.of("unshare", "-U", "true")).succeeded()) {
            return new Unprivileged(List.of("unshare", "-U"), null);
        }
        return asNobody();
    }

    static Unprivileged asNobody() throws DemoException {
        List<List<String>> ways = List.of(
                List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + groupOfNobody(), "--clear-groups"),
                List.of("runuser", "-u", NOBODY, "--"));
        for (List<String> way : ways) {
            Unprivileged nobody = new Unprivileged(way, NOBODY);
            if (Command.run(nobody.command(List.of("true"))).succeeded()) {
                return nobody;
            }
        }
        throw new DemoException(
                "PostgreSQL refuses to run as root, and neither unshare, setpriv nor runuser works here",
                "run ./sluice as an ordinary user");
    }

    private static String groupOfNobody() {
        return Command.run(List.of("id", "-g", NOBODY)).output().strip();
    }

    List<String> command(List<String> command) {
        List<String> whole = new ArrayList<>(prefix);
        whole.addAll(command);
        return whole;
    }

    /// Makes the folder usable for them.
    ///
    /// @throws DemoException when they cannot reach it
    void handOver(Path folder, Path programs) throws DemoException {
        if (newOwner == null) {
            return;
        }
        if (!Command.run(List.of("chown", "-R", newOwner, folder.toString())).succeeded()
                || !Command.run(command(List.of("test", "-w", folder.toString())))
                        .succeeded()) {
            throw new DemoException(
                    "PostgreSQL refuses to run as root, and user \"" + newOwner + "\" cannot reach " + folder,
                    "give --data a folder below one that everyone may enter, or run ./sluice as an ordinary user");
        }
        Path postgres = programs.resolve("bin").resolve("postgres");
        if (!Command.run(command(List.of("test", "-x", postgres.toString()))).succeeded()) {
            throw new DemoException(
                    "PostgreSQL refuses to run as root, and user \"" + newOwner + "\" cannot reach " + programs,
                    "move this checkout below a folder that everyone may enter, or run ./sluice as an ordinary user");
        }
    }
}
