package sluice.server.postgres.wal;

import java.util.List;
import sluice.core.pgoutput.PgOutputMessage;

/// How many messages of each type were decoded since they were told last. One thread.
final class MessageCounts {
    private static final List<String> TYPES = List.of(
            "begin", "commit", "origin", "relation", "type", "insert", "update", "delete", "truncate", "message");

    private final long[] counts = new long[TYPES.size()];
    private boolean any;

    void count(PgOutputMessage message) {
        counts[type(message)]++;
        any = true;
    }

    private static int type(PgOutputMessage message) {
        return switch (message) {
            case PgOutputMessage.Begin _ -> 0;
            case PgOutputMessage.Commit _ -> 1;
            case PgOutputMessage.Origin _ -> 2;
            case PgOutputMessage.Relation _ -> 3;
            case PgOutputMessage.Type _ -> 4;
            case PgOutputMessage.Insert _ -> 5;
            case PgOutputMessage.Update _ -> 6;
            case PgOutputMessage.Delete _ -> 7;
            case PgOutputMessage.Truncate _ -> 8;
            case PgOutputMessage.Message _ -> 9;
        };
    }

    void tell(ReaderObserver observer) {
        if (!any) {
            return;
        }
        any = false;
        for (int type = 0; type < counts.length; type++) {
            if (counts[type] != 0) {
                observer.decoded(TYPES.get(type), counts[type]);
                counts[type] = 0;
            }
        }
    }
}
