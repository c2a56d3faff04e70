package sluice.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.error.ErrorCode;
import sluice.core.error.WarningCode;
import sluice.core.value.Json;
import sluice.core.wal.Lsn;

class FrameEncoderTest {
    private static final String ADVERSARIAL = "a\"b\\c\r\n\ndata: x\u0000\u0085\u2028\u2029é😀\uD83D";

    @Test
    void ready_lists_every_result_in_order_and_leaves_out_what_is_empty() {
        var warning = new StreamEvent.Warning("docs", WarningCode.UNINDEXED_SHAPE, "m", null, "CREATE INDEX");
        Frames frame = Frames.parse(FrameEncoder.frame(new StreamEvent.Ready(
                "n1.1790-7",
                Instant.parse("2026-09-29T20:24:42Z"),
                20_000,
                Lsn.parse("0/1A2B3C4"),
                null,
                List.of(
                        new SubscriptionResult(
                                "docs",
                                new SubscriptionResult.Granted(
                                        "B",
                                        SubscriptionResult.Indexing.UNINDEXED,
                                        null,
                                        "why",
                                        "h.1",
                                        null,
                                        List.of(warning))),
                        new SubscriptionResult(
                                "mine",
                                new SubscriptionResult.Granted(
                                        "A",
                                        SubscriptionResult.Indexing.INDEXED,
                                        "owner_id",
                                        "why",
                                        "h.2",
                                        true,
                                        List.of())),
                        new SubscriptionResult(
                                "", new SubscriptionResult.Refused(ErrorCode.INVALID_SUBSCRIPTION, "no label", null)),
                        new SubscriptionResult(
                                "late",
                                new SubscriptionResult.Refused(ErrorCode.CATALOG_UNAVAILABLE, "later", 1500L))))));
        assertThat(frame.event()).isEqualTo("ready");
        assertThat(frame.id()).isEmpty();
        assertThat(frame.data()).isEqualTo(Json.parse("""
            {"stream_id":"n1.1790-7","server_time":"2026-09-29T20:24:42Z","heartbeat_ms":20000,"wal_lsn":"0/1A2B3C4",
             "subscriptions":[
              {"sub":"docs","ok":true,"tier":"B","indexed":false,"reason":"why","history":"h.1",
               "warnings":[{"sub":"docs","code":"unindexed_shape","message":"m","remedy":"CREATE INDEX"}]},
              {"sub":"mine","ok":true,"tier":"A","indexed":true,"routing_key":"owner_id","reason":"why",
               "history":"h.2","resumed":true},
              {"sub":"","ok":false,"error":{"code":"invalid_subscription","message":"no label","retryable":false}},
              {"sub":"late","ok":false,"error":{"code":"catalog_unavailable","message":"later","retryable":true,
               "retry_after_ms":1500}}]}\
            """));
    }

    @Test
    void ready_without_subscriptions_or_position_has_an_empty_list_and_no_position() {
        Frames frame = Frames.parse(FrameEncoder.frame(
                new StreamEvent.Ready("s", Instant.parse("2026-09-29T20:24:42Z"), 1, null, null, List.of())));
        assertThat(frame.data().get("subscriptions")).isEmpty();
        assertThat(frame.data().has("wal_lsn")).isFalse();
    }

    @Test
    void warnings_and_errors_leave_out_what_does_not_apply() {
        Frames warning = Frames.parse(FrameEncoder.frame(
                new StreamEvent.Warning(null, WarningCode.TABLE_TRUNCATED, "m", "rows are gone", null)));
        assertThat(warning.event()).isEqualTo("warning");
        assertThat(warning.data())
                .isEqualTo(Json.parse("{\"code\":\"table_truncated\",\"message\":\"m\",\"effect\":\"rows are gone\"}"));

        Frames lagging = Frames.parse(FrameEncoder.frame(
                new StreamEvent.Failure(null, ErrorCode.STREAM_LAGGING, "m", StreamEvent.Action.RESNAPSHOT, null)));
        assertThat(lagging.event()).isEqualTo("error");
        assertThat(lagging.data())
                .isEqualTo(
                        Json.parse(
                                "{\"code\":\"stream_lagging\",\"message\":\"m\",\"retryable\":true,\"action\":\"resnapshot\"}"));

        Frames ended = Frames.parse(
                FrameEncoder.frame(new StreamEvent.Failure("docs", ErrorCode.SHAPE_NOT_AUTHORIZED, "m", null, 0L)));
        assertThat(ended.data())
                .isEqualTo(
                        Json.parse(
                                "{\"sub\":\"docs\",\"code\":\"shape_not_authorized\",\"message\":\"m\",\"retryable\":false,\"retry_after_ms\":0}"));
    }

    @Test
    void no_string_breaks_out_of_its_line() {
        var warning = new StreamEvent.Warning(
                ADVERSARIAL, WarningCode.COLUMNS_NOT_GRANTED, ADVERSARIAL, ADVERSARIAL, ADVERSARIAL);
        List<StreamEvent> events = List.of(
                warning,
                new StreamEvent.Failure(ADVERSARIAL, ErrorCode.INTERNAL, ADVERSARIAL, null, null),
                new StreamEvent.Ready(
                        ADVERSARIAL,
                        Instant.EPOCH,
                        1,
                        null,
                        null,
                        List.of(
                                new SubscriptionResult(
                                        ADVERSARIAL,
                                        new SubscriptionResult.Granted(
                                                ADVERSARIAL,
                                                SubscriptionResult.Indexing.INDEXED,
                                                ADVERSARIAL,
                                                ADVERSARIAL,
                                                ADVERSARIAL,
                                                false,
                                                List.of(warning))),
                                new SubscriptionResult(
                                        ADVERSARIAL,
                                        new SubscriptionResult.Refused(ErrorCode.INTERNAL, ADVERSARIAL, null)))));
        for (StreamEvent event : events) {
            Frames frame = Frames.parse(FrameEncoder.frame(event));
            assertThat(frame.data().findValuesAsText("message"))
                    .allSatisfy(message -> assertThat(message).isEqualTo(ADVERSARIAL));
            assertThat(frame.data().findValuesAsText("sub"))
                    .allSatisfy(sub -> assertThat(sub).isEqualTo(ADVERSARIAL));
        }
    }

    @Test
    void the_heartbeat_is_a_comment_and_nobody_can_change_it() {
        FrameEncoder.heartbeat()[0] = 'x';
        assertThat(new String(FrameEncoder.heartbeat(), StandardCharsets.US_ASCII))
                .isEqualTo(": hb\n\n");
    }
}
