package sluice.core.channel;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import sluice.core.event.Frames;
import sluice.core.event.PassingEvent;
import sluice.core.session.Identity;
import sluice.core.shape.ChannelRequest;
import sluice.core.stream.ChannelSubscription;
import sluice.core.stream.StreamHandle;
import sluice.core.stream.StreamState;
import sluice.core.stream.SubscriptionTag;
import sluice.core.value.ByteSink;

/// Streams and what they would read, without a server.
final class ChannelStreams {
    private ChannelStreams() {}

    static Identity caller(@Nullable String subject) {
        return caller(subject, "{}");
    }

    static Identity caller(@Nullable String subject, String claims) {
        return new Identity(subject, "authenticated", claims, Instant.parse("2030-01-01T00:00:00Z"));
    }

    static ChannelSubscription join(String streamId, @Nullable String subject, String channel) {
        StreamHandle handle = new StreamHandle() {
            @Override
            public long takenFrames() {
                return 0;
            }

            @Override
            public long takenBytes() {
                return 0;
            }

            @Override
            public void tellWhenDrained() {}

            @Override
            public int shard() {
                return 0;
            }

            @Override
            public String streamId() {
                return streamId;
            }
        };
        return new ChannelSubscription(
                new StreamState(handle, caller(subject)),
                "label of " + streamId,
                new ChannelRequest(channel, ChannelRequest.Members.LISTED),
                0);
    }

    static JsonNode read(ChannelSubscription subscription, PassingEvent event) {
        return frame(subscription.tag(), event).data();
    }

    static Frames frame(SubscriptionTag tag, PassingEvent event) {
        ByteSink out = new ByteSink(256);
        out.put(event.kind().head());
        out.put(tag.labelJson());
        out.put(event.tail());
        return Frames.parse(out.toBytes());
    }
}
