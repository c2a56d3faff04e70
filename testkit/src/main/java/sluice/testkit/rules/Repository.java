package sluice.testkit.rules;

import java.nio.file.Files;
import java.nio.file.Path;

/// Where the checked-out sources are. Maven says so; an editor's test runner does not, and then it is the nearest
/// folder upwards that holds the Maven wrapper.
public final class Repository {
    private Repository() {}

    public static Path root() {
        String given = System.getProperty("sluice.root");
        if (given != null) {
            return Path.of(given);
        }
        for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
            if (Files.exists(folder.resolve("mvnw"))) {
                return folder;
            }
        }
        throw new IllegalStateException("not inside a checkout: " + Path.of("").toAbsolutePath());
    }
}
