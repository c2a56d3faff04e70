package sluice.core.dispatch;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.SimDatabase.Commit;
import sluice.core.pgoutput.PgOutputMessage;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.wal.Lsn;

/// One channel that one simulated client joined: it hears all that commits say there from its join on, each once, in
/// order, whatever becomes of its queue meanwhile.
final class SimRoom {
    static final List<String> CHANNELS = List.of("room:1", "room:2");

    final String label;
    private final String channel;
    private final List<String> heard = new ArrayList<>();
    boolean removed;

    /// Where the engine was when it installed the join; null before.
    @Nullable
    Lsn from;

    SimRoom(String label, String channel) {
        this.label = label;
        this.channel = channel;
    }

    static SimRoom any(Random random, String label) {
        return new SimRoom(label, CHANNELS.get(random.nextInt(CHANNELS.size())));
    }

    SubscriptionRequest request() {
        return ChannelWorld.join(label, channel);
    }

    void broadcast(JsonNode event) {
        Lsn at = Lsn.parse(event.get("commit_lsn").asText());
        Lsn start = from;
        if (start == null || at.isBefore(start)) {
            throw new AssertionError("NEVER_LEAK: " + label + " joined at " + start + " and hears " + event);
        }
        heard.add(event.get("channel").asText() + " " + event.get("payload").asText());
    }

    /// At rest: all of it was heard, and nothing else.
    void settle(List<Commit> commits) {
        List<String> said = new ArrayList<>();
        for (Commit commit : commits) {
            for (PgOutputMessage change : commit.changes) {
                if (change instanceof PgOutputMessage.Message message
                        && from != null
                        && !commit.lsn.isBefore(from)
                        && message.prefix().equals("sluice:" + channel)) {
                    said.add(channel + " " + new String(message.content(), java.nio.charset.StandardCharsets.UTF_8));
                }
            }
        }
        if (!said.equals(heard)) {
            throw new AssertionError("NO_SILENT_GAP: " + label + " hears " + heard + " of " + said);
        }
    }
}
