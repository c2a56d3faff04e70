package sluice.core.resume;

import java.time.Instant;
import sluice.core.event.PassingEvent;

/// What one commit said once in one channel. Immutable but for its place in the buffer.
public final class BufferedBroadcast extends BufferedEntry {
    private final Said said;
    private final int place;

    /// A broadcast for everybody who is in the channel.
    public record Said(String channel, PassingEvent event) {}

    BufferedBroadcast(BufferedCommit commit, Said said, int place, Instant keptAt) {
        super(commit, keptAt);
        this.said = said;
        this.place = place;
    }

    public String channel() {
        return said.channel();
    }

    public PassingEvent event() {
        return said.event();
    }

    /// Where it stands among all broadcasts of the commit.
    public int place() {
        return place;
    }
}
