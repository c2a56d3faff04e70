package sluice.server.cli;

import picocli.CommandLine.IVersionProvider;

/// Answers from the jar's manifest; class folders have none.
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        String version = Main.class.getPackage().getImplementationVersion();
        return new String[] {
            "sluice " + (version == null ? "from class files" : version),
            "JDK " + Runtime.version() + " (" + System.getProperty("java.vendor", "unknown vendor") + ")"
        };
    }
}
