package sluice.core.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.event.EventBody;
import sluice.core.event.Frames;
import sluice.core.value.ByteSink;

class FrameHeadTest {
    private static final EventBody BODY = new EventBody(bytes("16/B374D848"), bytes("\"op\":\"INSERT\"}\n\n"));

    @Test
    void head_and_tail_make_one_frame_whatever_the_label_and_the_count() {
        for (String label : List.of("docs", "", "a\"b\n\r\ndata: \u2028😀", "\uD83D", "x".repeat(1000))) {
            for (long seq : new long[] {1, 9, 10, 99, 100, 1_234_567_890_123L, Long.MAX_VALUE}) {
                var tag = SubscriptionTag.of(label);
                var sink = new ByteSink(8);
                FrameHead.append(sink, BODY, tag, seq);
                byte[] head = sink.toBytes();
                assertThat(head).hasSize(FrameHead.length(BODY, tag, seq));

                byte[] written = new byte[head.length + 4];
                assertThat(FrameHead.write(written, 2, BODY, tag, seq)).isEqualTo(head.length + 2);
                assertThat(written).startsWith(0, 0).endsWith(0, 0).containsSubsequence(head);

                sink.put(BODY.tail());
                Frames frame = Frames.parse(sink.toBytes());
                assertThat(frame.event()).isEqualTo("change");
                assertThat(frame.id()).isEqualTo("16/B374D848:" + seq);
                assertThat(frame.data().get("sub").textValue()).isEqualTo(label);
                assertThat(frame.data().get("seq").longValue()).isEqualTo(seq);
                assertThat(frame.data().get("op").textValue()).isEqualTo("INSERT");
            }
        }
    }

    @Test
    void a_row_of_no_commit_has_no_id() {
        var row = new EventBody(new byte[0], bytes("\"op\":\"INSERT\",\"snapshot\":true}\n\n"));
        for (long seq : new long[] {1, 10, Long.MAX_VALUE}) {
            var tag = SubscriptionTag.of("docs");
            var sink = new ByteSink(8);
            FrameHead.append(sink, row, tag, seq);
            byte[] head = sink.toBytes();
            assertThat(head).hasSize(FrameHead.length(row, tag, seq));
            byte[] written = new byte[head.length];
            assertThat(FrameHead.write(written, 0, row, tag, seq)).isEqualTo(head.length);
            assertThat(written).isEqualTo(head);

            sink.put(row.tail());
            assertThat(new String(sink.toBytes(), StandardCharsets.UTF_8))
                    .isEqualTo("event: change\ndata: {\"sub\":\"docs\",\"seq\":" + seq
                            + ",\"op\":\"INSERT\",\"snapshot\":true}\n\n");
        }
    }

    @Test
    void a_count_below_zero_is_refused() {
        assertThatThrownBy(() -> FrameHead.append(new ByteSink(8), BODY, SubscriptionTag.of("a"), -1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
