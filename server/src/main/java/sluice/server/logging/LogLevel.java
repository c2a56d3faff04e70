package sluice.server.logging;

/// `SLUICE_LOG_LEVEL`.
public enum LogLevel {
    DEBUG,
    INFO,
    WARN,
    ERROR
}
