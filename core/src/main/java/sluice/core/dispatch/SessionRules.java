package sluice.core.dispatch;

import sluice.core.session.RevocationTables;
import sluice.core.session.Revocations;

/// Which tables end sessions, and who is told.
///
/// @param revocations the engine writes it as the log says so; whoever verifies a token asks it as well
public record SessionRules(RevocationTables tables, Revocations revocations) {}
