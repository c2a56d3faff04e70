package sluice.server.postgres.query;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;

/// Keeps a connection whose statement raised "feature not supported".
///
/// The pool takes that for a broken connection, closes it, and logs the error's text. To us it is what a caller's
/// expression raised, the connection is as good as before, and the text may quote values.
final class ErrorsThatAreAnswers implements SQLExceptionOverride {
    @java.lang.Override
    public SQLExceptionOverride.Override adjudicate(SQLException failure) {
        return "0A000".equals(failure.getSQLState())
                ? SQLExceptionOverride.Override.DO_NOT_EVICT
                : SQLExceptionOverride.Override.CONTINUE_EVICT;
    }
}
