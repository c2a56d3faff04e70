package sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import sluice.core.event.EventBody;
import sluice.core.stream.FrameHead;
import sluice.core.stream.SubscriptionTag;
import sluice.core.value.ByteSink;

class FrameQueueTest {
    private static final EventBody ROW = new EventBody(new byte[0], ascii("\"snapshot\":true}\n\n"));
    private static final EventBody CHANGE = new EventBody(ascii("0/1A2B"), ascii("\"op\":\"INSERT\"}\n\n"));

    @Test
    void a_row_of_no_commit_is_written_without_an_id_and_a_change_with_one() {
        SubscriptionTag tag = SubscriptionTag.of("docs");
        FrameQueue queue = new FrameQueue();
        ByteSink expected = new ByteSink(64);
        for (long seq = 1; seq <= 20; seq++) {
            EventBody body = seq % 2 == 0 ? ROW : CHANGE;
            queue.add(tag, seq, body);
            FrameHead.append(expected, body, tag, seq);
            expected.put(body.tail());
        }
        assertThat(queue.lengthOf(20)).isEqualTo(expected.length());
        ByteBuf out = Unpooled.buffer();
        queue.writeTo(out, 20);
        String written = out.toString(StandardCharsets.UTF_8);
        assertThat(written).isEqualTo(new String(expected.toBytes(), StandardCharsets.UTF_8));
        assertThat(written).startsWith("event: change\nid: 0/1A2B:1\ndata: {").contains("event: change\ndata: {");
        assertThat(queue.isEmpty()).isTrue();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
