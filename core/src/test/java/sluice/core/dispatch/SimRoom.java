package sluice.core.dispatch;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.PgOutputMessage;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.wal.Lsn;

/// One channel that one simulated client joined: it hears all that commits say there from its join on, each once, in
/// order, whatever becomes of its queue meanwhile.
final class SimRoom {
    static final List<String> CHANNELS = List.of("room:1", "room:2");

    /// What the commit there said in a channel.
    record Said(Lsn lsn, String channel, String text) {
        static Said of(Lsn lsn, PgOutputMessage.Message message) {
            return new Said(
                    lsn,
                    message.prefix().substring("sluice:".length()),
                    new String(message.content(), StandardCharsets.UTF_8));
        }
    }

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
    ///
    /// @param all that commits said, in order
    void settle(List<Said> all) {
        List<String> said = new ArrayList<>();
        for (Said each : all) {
            if (from != null && !each.lsn().isBefore(from) && each.channel().equals(channel)) {
                said.add(channel + " " + each.text());
            }
        }
        if (!said.equals(heard)) {
            throw new AssertionError("NO_SILENT_GAP: " + label + " hears " + heard + " of " + said);
        }
    }
}
