package sluice.server.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import sluice.core.authorization.Tier;
import sluice.core.error.ErrorCode;
import sluice.core.error.WarningCode;
import sluice.core.event.ChannelEvents;
import sluice.core.event.ChannelEvents.Member;
import sluice.core.event.ChannelEvents.Message;
import sluice.core.event.ChannelEvents.Origin;
import sluice.core.event.FrameEncoder;
import sluice.core.event.PassingEvent;
import sluice.core.event.StreamEvent;
import sluice.core.event.StreamEvent.Completeness;
import sluice.core.event.SubscriptionResult;
import sluice.core.event.SubscriptionResult.Granted;
import sluice.core.event.SubscriptionResult.Indexing;
import sluice.core.event.SubscriptionResult.Joined;
import sluice.core.event.SubscriptionResult.Refused;
import sluice.core.shape.Operation;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// The API files against the schemas their formats are published with, and against everything but changes that the
/// server can write.
class ApiFilesTest {
    private static final ApiFiles FILES = ApiFiles.read();
    private static final Lsn LSN = Lsn.parse("16/B374D848");
    private static final Instant AT = Instant.parse("2026-01-02T03:04:05.678901Z");

    private static final StreamEvent.Warning WARNING = new StreamEvent.Warning(
            "docs", WarningCode.UNINDEXED_SHAPE, "a message", "what will be noticed", "what to do");

    private record Frame(String kind, JsonNode data) {
        static Frame of(byte[] frame) {
            List<String> lines =
                    new String(frame, StandardCharsets.UTF_8).lines().toList();
            return new Frame(
                    lines.get(0).substring("event: ".length()),
                    ApiFiles.tree(lines.get(1).substring("data: ".length())));
        }

        static Frame of(PassingEvent event) {
            return of((new String(event.kind().head(), StandardCharsets.UTF_8) + "\"room\""
                            + new String(event.tail(), StandardCharsets.UTF_8))
                    .getBytes(StandardCharsets.UTF_8));
        }
    }

    /// Each event of a stream with all it may have, and with as little as it may have.
    private static List<StreamEvent> streamEvents() {
        List<SubscriptionResult> results = List.of(
                new SubscriptionResult(
                        "docs", new Granted("A", Indexing.INDEXED, "owner_id", "why", "n1-1", true, List.of(WARNING))),
                new SubscriptionResult("all", new Granted("C", Indexing.UNINDEXED, null, "why", "", null, List.of())),
                new SubscriptionResult("room", new Joined()),
                new SubscriptionResult("", new Refused(ErrorCode.INVALID_SUBSCRIPTION, "why", 2000L)),
                new SubscriptionResult("x", new Refused(ErrorCode.INTERNAL, "why", null)));
        return List.of(
                new StreamEvent.Ready("n1.1-1", AT, 20_000, LSN, 6120L, results),
                new StreamEvent.Ready("n1.1-1", AT, 20_000, null, null, List.of()),
                new StreamEvent.SnapshotEnd("docs", 7, LSN, Completeness.WHOLE),
                new StreamEvent.SnapshotEnd("docs", 0, LSN, Completeness.TRUNCATED),
                new StreamEvent.Live("docs", LSN),
                new StreamEvent.Delay(0),
                new StreamEvent.Commit(null, LSN, AT, new Xid(-1)),
                new StreamEvent.Commit("s", LSN, AT, new Xid(1)),
                WARNING,
                new StreamEvent.Warning(null, WarningCode.CHANGES_WITHHELD, "a message", null, null),
                new StreamEvent.Failure(
                        "docs", ErrorCode.SCHEMA_CHANGED, "a message", StreamEvent.Action.RESNAPSHOT, 5000L),
                new StreamEvent.Failure(null, ErrorCode.TOKEN_EXPIRED, "a message", null, null));
    }

    private static List<PassingEvent> passingEvents() {
        byte[] name = "\"paid\"".getBytes(StandardCharsets.US_ASCII);
        byte[] json = "{\"n\":1.50}".getBytes(StandardCharsets.US_ASCII);
        Map<String, Member> members = new LinkedHashMap<>();
        members.put("7f3a", new Member(json, AT, "17"));
        members.put("91c0", new Member(null, AT, "18"));
        return List.of(
                ChannelEvents.broadcast("room:42", new Message(name, json), new Origin.Client("7f3a"), AT),
                ChannelEvents.broadcast("room:42", new Message(name, null), new Origin.Client(null), AT),
                ChannelEvents.broadcast("room:42", new Message(name, json), new Origin.Database(LSN), AT),
                ChannelEvents.broadcast("room:42", new Message(name, json), new Origin.Database(null), AT),
                ChannelEvents.state("room:42", members),
                ChannelEvents.state("room:42", Map.of()),
                ChannelEvents.diff("room:42", members, members));
    }

    private static List<Frame> frames() {
        List<Frame> frames = new ArrayList<>();
        streamEvents().forEach(event -> frames.add(Frame.of(FrameEncoder.frame(event))));
        passingEvents().forEach(event -> frames.add(Frame.of(event)));
        return frames;
    }

    @Test
    void the_streams_file_is_an_asyncapi_document() {
        assertThat(FILES.asyncapi().path("asyncapi").asText()).isEqualTo("3.0.0");
        assertThat(ApiFiles.asyncapiProblems(FILES.asyncapi())).isEmpty();
    }

    @Test
    void the_requests_file_is_an_openapi_document() {
        assertThat(FILES.openapi().path("openapi").asText()).startsWith("3.1.");
        assertThat(ApiFiles.openapiProblems(FILES.openapi())).isEmpty();
    }

    @Test
    void the_published_schemas_find_what_is_wrong_in_a_document_and_in_a_schema_of_it() {
        ObjectNode asyncapi = FILES.asyncapi().deepCopy();
        ((ObjectNode) asyncapi.at("/operations/events")).put("action", "shout");
        assertThat(ApiFiles.asyncapiProblems(asyncapi)).isNotEmpty();
        asyncapi = FILES.asyncapi().deepCopy();
        ((ObjectNode) asyncapi.at("/components/schemas/Live")).put("type", "thing");
        assertThat(ApiFiles.asyncapiProblems(asyncapi)).isNotEmpty();

        ObjectNode openapi = FILES.openapi().deepCopy();
        ((ObjectNode) openapi.at("/paths/~1stream/post")).put("answers", 1);
        assertThat(ApiFiles.openapiProblems(openapi)).isNotEmpty();
        openapi = FILES.openapi().deepCopy();
        ((ObjectNode) openapi.at("/components/schemas/Shape")).put("type", "thing");
        assertThat(ApiFiles.openapiProblems(openapi)).isNotEmpty();
    }

    @Test
    void every_kind_of_event_is_in_both_files_and_no_other() {
        Set<String> kinds = new TreeSet<>(List.of("change", "heartbeat"));
        frames().forEach(frame -> kinds.add(frame.kind()));
        assertThat(FILES.kinds()).isEqualTo(kinds);
        assertThat(ApiFiles.names(FILES.asyncapi().at("/channels/stream/messages")))
                .isEqualTo(kinds);
        String opening = FILES.openapi()
                .at("/paths/~1stream/post/responses/200/description")
                .asText();
        assertThat(kinds).allSatisfy(kind -> assertThat(opening).contains("`" + kind + "`"));

        assertThat(streamEvents().stream().<Class<?>>map(StreamEvent::getClass).distinct())
                .as("a sample of every event there is")
                .containsExactlyInAnyOrder(StreamEvent.class.getPermittedSubclasses());
        assertThat(passingEvents().stream().map(PassingEvent::kind).distinct())
                .containsExactlyInAnyOrder(PassingEvent.Kind.values());
        assertThat(FILES.asyncapi()
                                .at("/components/messages/heartbeat/payload/const")
                                .asText()
                        + "\n\n")
                .isEqualTo(new String(FrameEncoder.heartbeat(), StandardCharsets.UTF_8));
    }

    @Test
    void every_code_is_in_the_files_and_no_other() {
        String[] errors =
                Arrays.stream(ErrorCode.values()).map(ErrorCode::wireName).toArray(String[]::new);
        assertThat(choices(FILES.asyncapi(), "ErrorCode")).containsExactlyInAnyOrder(errors);
        assertThat(choices(FILES.openapi(), "RefusalCode")).containsExactlyInAnyOrder(errors);
        assertThat(choices(FILES.asyncapi(), "WarningCode"))
                .containsExactlyInAnyOrder(Arrays.stream(WarningCode.values())
                        .map(WarningCode::wireName)
                        .toArray(String[]::new));
        assertThat(texts(FILES.asyncapi().at("/components/schemas/Change/properties/op/enum")))
                .containsExactlyInAnyOrder(
                        Arrays.stream(Operation.values()).map(Enum::name).toArray(String[]::new));
        assertThat(texts(FILES.asyncapi().at("/components/schemas/Granted/properties/tier/enum")))
                .containsExactlyInAnyOrder(
                        Arrays.stream(Tier.values()).map(Enum::name).toArray(String[]::new));
    }

    private static List<String> choices(JsonNode file, String schema) {
        return texts(file.at("/components/schemas/" + schema + "/enum"));
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(value -> texts.add(value.asText()));
        return texts;
    }

    @Test
    void every_event_but_a_change_is_as_the_file_says_and_has_every_member_it_names() {
        for (Frame frame : frames()) {
            assertThat(FILES.event(frame.kind(), frame.data()))
                    .as("%s %s", frame.kind(), frame.data())
                    .isEmpty();
        }
        JsonNode schemas = FILES.asyncapi().at("/components/schemas");
        Set<String> named = new TreeSet<>();
        for (String schema : ApiFiles.names(schemas)) {
            if (!schema.startsWith("Change")) {
                named.addAll(ApiFiles.members(schemas.path(schema)));
            }
        }
        assertThat(ApiFiles.membersOf(frames().stream().map(Frame::data).toList()))
                .containsAll(named);
    }

    @Test
    void a_member_or_code_the_file_does_not_name_is_found() {
        assertThat(FILES.event("live", ApiFiles.tree("{\"sub\":\"a\",\"wal_lsn\":\"0/1\"}")))
                .isEmpty();
        assertThat(FILES.event("live", ApiFiles.tree("{\"sub\":\"a\",\"wal_lsn\":\"0/1\",\"x\":1}")))
                .isNotEmpty();
        assertThat(FILES.event("live", ApiFiles.tree("{\"sub\":\"a\",\"wal_lsn\":\"one\"}")))
                .isNotEmpty();
        assertThat(FILES.event("error", ApiFiles.tree("{\"code\":\"x\",\"message\":\"m\",\"retryable\":true}")))
                .isNotEmpty();
        assertThat(FILES.event(
                        "ready",
                        Frame.of(FrameEncoder.frame(streamEvents().getFirst())).data()))
                .isEmpty();
    }
}
