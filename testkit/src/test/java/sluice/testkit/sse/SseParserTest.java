package sluice.testkit.sse;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SseParserTest {
    private final List<SseEvent> events = new ArrayList<>();
    private final List<String> comments = new ArrayList<>();
    private final SseParser parser = new SseParser(events::add, comments::add);

    @Test
    void an_event_has_type_id_and_data() {
        feed("event: change\nid: 0/1:2\ndata: {\"a\":1}\n\n");
        assertThat(events)
                .containsExactly(
                        new SseEvent("change", "0/1:2", "{\"a\":1}", "event: change\nid: 0/1:2\ndata: {\"a\":1}\n\n"));
    }

    @Test
    void every_way_to_cut_the_bytes_gives_the_same_events() {
        String text = "event: a\r\ndata: größe 😀\r\n\r\n: ping\r\rdata:x\ndata: y\n\nid: 7\rdata: z\r\r";
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        feed(text);
        List<SseEvent> whole = List.copyOf(events);
        assertThat(whole).extracting(SseEvent::data).containsExactly("größe 😀", "x\ny", "z");
        for (int cut = 0; cut <= bytes.length; cut++) {
            events.clear();
            SseParser other = new SseParser(events::add, comments::add);
            other.feed(bytes, 0, cut);
            other.feed(bytes, cut, bytes.length - cut);
            assertThat(events).as("cut at %d", cut).isEqualTo(whole);
        }
        events.clear();
        SseParser slowest = new SseParser(events::add, comments::add);
        for (int i = 0; i < bytes.length; i++) {
            slowest.feed(bytes, i, 1);
        }
        assertThat(events).isEqualTo(whole);
    }

    @Test
    void lines_end_in_lf_cr_or_both() {
        feed("data: a\n\ndata: b\r\rdata: c\r\n\r\n");
        assertThat(events).extracting(SseEvent::data).containsExactly("a", "b", "c");
    }

    @Test
    void data_lines_are_joined() {
        feed("data: a\ndata\ndata: b\n\n");
        assertThat(events).extracting(SseEvent::data).containsExactly("a\n\nb");
    }

    @Test
    void one_leading_blank_goes_and_no_more() {
        feed("data:  two\n\ndata:none\n\ndata:\ttab\n\n");
        assertThat(events).extracting(SseEvent::data).containsExactly(" two", "none", "\ttab");
    }

    @Test
    void comments_are_counted_and_are_not_events() {
        feed(": ping\n\n:\n\n: data: no\n\n");
        assertThat(events).isEmpty();
        assertThat(comments).containsExactly("ping", "", "data: no");
    }

    @Test
    void an_event_without_data_is_dropped_and_its_type_forgotten() {
        feed("event: a\nid: 1\n\ndata: b\n\n");
        assertThat(events).singleElement().isEqualTo(new SseEvent("message", null, "b", "data: b\n\n"));
    }

    @Test
    void an_empty_data_line_is_data() {
        feed("data\n\ndata\ndata\n\n");
        assertThat(events).extracting(SseEvent::data).containsExactly("", "\n");
    }

    @Test
    void what_the_last_blank_line_does_not_end_is_dropped() {
        feed("data: a\n\ndata: b\n");
        assertThat(events).extracting(SseEvent::data).containsExactly("a");
    }

    @Test
    void a_byte_order_mark_is_skipped_at_the_start_only() {
        feed("\uFEFFdata: a\n\n\uFEFFdata: b\n\n");
        assertThat(events).extracting(SseEvent::data).containsExactly("a");
    }

    @Test
    void an_id_with_a_zero_byte_and_an_unknown_field_are_ignored() {
        feed("id: a\0b\nfoo: bar\ndata: c\n\n");
        assertThat(events).extracting(SseEvent::id).containsExactly((String) null);
    }

    @Test
    void retry_takes_digits_only() {
        feed("retry: 1500\n\nretry: soon\n\n");
        assertThat(parser.retryMillis()).isEqualTo(1500);
        assertThat(events).isEmpty();
    }

    private void feed(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        parser.feed(bytes, 0, bytes.length);
    }
}
