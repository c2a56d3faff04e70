package sluice.server.logging;

/// `SLUICE_LOG_FORMAT`.
public enum LogFormat {
    JSON,
    TEXT
}
