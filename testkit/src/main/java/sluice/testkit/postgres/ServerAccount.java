package sluice.testkit.postgres;

import com.sun.security.auth.module.UnixSystem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// As whom PostgreSQL runs. It refuses to run as root, so root needs a way to be somebody else.
///
/// @param prefix what stands before the command; empty when the command runs as it is
/// @param owner who must own the server's folder, or null when that is whoever makes it
record ServerAccount(List<String> prefix, @Nullable String owner) {
    private static final String NOBODY = "nobody";

    /// In order of preference: the user as it is; root in a user namespace of its own, where it
    /// has another number and
    /// still owns its files; root as `nobody`.
    ///
    /// @throws IllegalStateException when root has no such way
    static ServerAccount find() {
        if (new UnixSystem().getUid() != 0) {
            return new ServerAccount(List.of(), null);
        }
        if (succeeds("unshare", "-U", "sh", "-c", "test $(id -u) -ne 0")) {
            return new ServerAccount(List.of("unshare", "-U"), null);
        }
        return withoutNamespace();
    }

    static ServerAccount withoutNamespace() {
        List<String> setpriv = List.of("setpriv", "--reuid=" + NOBODY, "--regid=nogroup", "--clear-groups");
        if (succeeds(command(setpriv, "true"))) {
            return new ServerAccount(setpriv, NOBODY);
        }
        List<String> runuser = List.of("runuser", "-u", NOBODY, "--");
        if (succeeds(command(runuser, "true"))) {
            return new ServerAccount(runuser, NOBODY);
        }
        throw new IllegalStateException("PostgreSQL does not run as root, and root can neither make a user namespace"
                + " (unshare) nor become \"nobody\" (setpriv, runuser): run as another user");
    }

    /// Makes the folder and all in it the account's own.
    void adopt(Path folder) {
        if (owner != null && !succeeds("chown", "-R", owner, folder.toString())) {
            throw new IllegalStateException(folder + " cannot be given to " + owner);
        }
    }

    List<String> command(List<String> command) {
        List<String> all = new ArrayList<>(prefix);
        all.addAll(command);
        return all;
    }

    private static String[] command(List<String> prefix, String last) {
        List<String> all = new ArrayList<>(prefix);
        all.add(last);
        return all.toArray(String[]::new);
    }

    private static boolean succeeds(String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            process.getOutputStream().close();
            return process.waitFor() == 0;
        } catch (IOException e) {
            return false; // no such program
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new IOException(e));
        }
    }
}
