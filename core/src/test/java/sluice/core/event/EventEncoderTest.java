package sluice.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.shape.Operation;
import sluice.core.shape.Projection;
import sluice.core.transaction.Change;
import sluice.core.value.Json;
import sluice.core.value.Oid;
import sluice.core.value.PgType;
import sluice.core.wal.Lsn;

class EventEncoderTest {
    private static final String UNCHANGED = "<unchanged>";
    private static final String NOT_SENT = "<not sent>";
    private static final String ODD_NAME = "a\"b\n\u2028😀";

    private static final RelationDefinition NOTES = new RelationDefinition(
            16_400,
            "public",
            "notes",
            'd',
            List.of(
                    new RelationDefinition.Column("id", Oid.INT8, -1, true),
                    new RelationDefinition.Column("title", Oid.TEXT, -1, false),
                    new RelationDefinition.Column("secret", Oid.TEXT, -1, false),
                    new RelationDefinition.Column(ODD_NAME, Oid.JSON, -1, false)));

    private static final ColumnMapping MAPPING = ColumnMapping.of(NOTES, relation());

    private static final Projection VISIBLE = projection(1, 2, 4);

    private final List<RelationDefinition> cut = new ArrayList<>();
    private final EventEncoder encoder = new EventEncoder(1000, cut::add);

    @BeforeEach
    void begin() {
        encoder.beginCommit(Lsn.parse("16/B374D848"), Instant.parse("2026-09-29T20:24:42.390000Z"));
    }

    @Test
    void an_insert_shows_the_projected_columns_and_no_other() {
        encoder.beginChange(new Change.Insert(NOTES, tuple("7", null, "hidden", "{\"k\": [1]}")), MAPPING);
        JsonNode event = event(encoder.body(Operation.INSERT, Transition.NONE, VISIBLE, Images.RECORD));
        assertThat(event).isEqualTo(Json.parse("""
            {"op":"INSERT","schema":"public","table":"notes","commit_lsn":"16/B374D848",
             "commit_time":"2026-09-29T20:24:42.39Z",
             "record":{"id":7,"title":null,"a\\"b\\n\\u2028😀":{"k":[1]}}}\
            """));
        assertThat(event.toString()).doesNotContain("hidden").doesNotContain("secret");
    }

    @Test
    void an_old_image_that_was_not_asked_for_is_not_shown() {
        encoder.beginChange(
                new Change.Update(NOTES, tuple("6", "previous", NOT_SENT, NOT_SENT), tuple("7", "now", "x", "1")),
                MAPPING);
        assertThat(event(encoder.body(Operation.UPDATE, Transition.NONE, VISIBLE, Images.RECORD))
                        .has("old"))
                .isFalse();
        JsonNode both = event(encoder.body(Operation.UPDATE, Transition.NONE, VISIBLE, Images.RECORD_AND_OLD));
        assertThat(both.get("old")).isEqualTo(Json.parse("{\"id\":6,\"title\":\"previous\"}"));
        assertThat(both.get("record").get("title").textValue()).isEqualTo("now");
    }

    @Test
    void a_row_of_a_snapshot_looks_like_its_insert_without_commit() {
        encoder.beginSnapshot(relation(), Lsn.parse("16/B374D900"), MAPPING);
        EventBody body =
                encoder.snapshotRow(tuple("7", null, "hidden", "{\"k\": [1]}"), EventEncoder.RowPart.WHOLE, VISIBLE);
        assertThat(body.hasPosition()).isFalse();
        assertThat(row(body)).isEqualTo(Json.parse("""
            {"op":"INSERT","schema":"public","table":"notes","commit_lsn":"16/B374D900",
             "record":{"id":7,"title":null,"a\\"b\\n\\u2028😀":{"k":[1]}},"snapshot":true}\
            """));

        encoder.beginCommit(Lsn.parse("16/B374D848"), Instant.parse("2026-09-29T20:24:42.390000Z"));
        encoder.beginChange(new Change.Insert(NOTES, tuple("7", null, "hidden", "{\"k\": [1]}")), MAPPING);
        EventBody live = encoder.body(Operation.INSERT, Transition.NONE, VISIBLE, Images.RECORD);
        assertThat(event(live).get("record")).isEqualTo(row(body).get("record"));
    }

    @Test
    void a_row_of_a_snapshot_that_is_too_large_keeps_its_key() {
        encoder.beginSnapshot(relation(), Lsn.parse("16/B374D900"), MAPPING);
        JsonNode whole =
                row(encoder.snapshotRow(tuple("7", "x".repeat(1001), "y", "1"), EventEncoder.RowPart.WHOLE, VISIBLE));
        JsonNode keyOnly =
                row(encoder.snapshotRow(tuple("7", null, NOT_SENT, null), EventEncoder.RowPart.KEY, VISIBLE));
        assertThat(whole).isEqualTo(keyOnly);
        assertThat(whole.get("record")).isEqualTo(Json.parse("{\"id\":7}"));
        assertThat(whole.get("degraded").textValue()).isEqualTo("change_too_large");
        assertThat(whole.get("snapshot").booleanValue()).isTrue();
    }

    @Test
    void a_record_that_was_not_asked_for_is_not_shown() {
        encoder.beginChange(
                new Change.Update(NOTES, tuple("6", "mine", "x", "1"), tuple("7", UNCHANGED, "theirs", "2")), MAPPING);
        JsonNode event = event(encoder.body(Operation.DELETE, Transition.LEAVE, projection(1, 2, 3), Images.OLD));
        assertThat(event.has("record")).isFalse();
        assertThat(event.has("unchanged")).isFalse();
        assertThat(event.get("transition").textValue()).isEqualTo("leave");
        assertThat(event.toString()).doesNotContain("theirs");
    }

    @Test
    void null_not_sent_and_unchanged_are_three_things() {
        encoder.beginChange(
                new Change.Update(NOTES, tuple("7", NOT_SENT, NOT_SENT, NOT_SENT), tuple("7", null, "s", UNCHANGED)),
                MAPPING);
        JsonNode event = event(encoder.body(Operation.UPDATE, Transition.NONE, VISIBLE, Images.RECORD_AND_OLD));
        assertThat(event.get("record")).isEqualTo(Json.parse("{\"id\":7,\"title\":null}"));
        assertThat(event.get("old")).isEqualTo(Json.parse("{\"id\":7}"));
        assertThat(event.get("unchanged")).hasSize(1);
        assertThat(event.get("unchanged").get(0).textValue()).isEqualTo(ODD_NAME);
    }

    @Test
    void unchanged_names_projected_columns_only() {
        encoder.beginChange(new Change.Update(NOTES, null, tuple("7", "t", UNCHANGED, "1")), MAPPING);
        assertThat(event(encoder.body(Operation.UPDATE, Transition.NONE, VISIBLE, Images.RECORD))
                        .has("unchanged"))
                .isFalse();
    }

    @Test
    void a_record_without_columns_is_left_out() {
        encoder.beginChange(new Change.Delete(NOTES, tuple("7", NOT_SENT, NOT_SENT, NOT_SENT)), MAPPING);
        assertThat(event(encoder.body(Operation.DELETE, Transition.NONE, projection(2), Images.OLD))
                        .has("old"))
                .isFalse();
        assertThat(event(encoder.body(Operation.DELETE, Transition.NONE, VISIBLE, Images.OLD))
                        .get("old"))
                .isEqualTo(Json.parse("{\"id\":7}"));
    }

    @Test
    void a_column_the_stream_defines_otherwise_is_absent() {
        var renamed = new RelationDefinition(
                16_400, "public", "notes", 'd', List.of(new RelationDefinition.Column("id", Oid.INT8, -1, true)));
        var row = new Tuple(bytes("7"), new Tuple.Kind[] {Tuple.Kind.TEXT}, new int[] {0}, new int[] {1});
        encoder.beginChange(new Change.Insert(renamed, row), ColumnMapping.of(renamed, relation()));
        assertThat(event(encoder.body(Operation.INSERT, Transition.NONE, VISIBLE, Images.RECORD))
                        .get("record"))
                .isEqualTo(Json.parse("{\"id\":7}"));
    }

    @Test
    void a_change_too_large_keeps_the_projected_key_and_says_so() {
        encoder.beginChange(
                new Change.Update(
                        NOTES,
                        tuple("6", "x".repeat(500), NOT_SENT, NOT_SENT),
                        tuple("7", "y".repeat(500), "s", UNCHANGED)),
                MAPPING);
        JsonNode event = event(encoder.body(Operation.UPDATE, Transition.NONE, VISIBLE, Images.RECORD_AND_OLD));
        assertThat(event.get("record")).isEqualTo(Json.parse("{\"id\":7}"));
        assertThat(event.get("old")).isEqualTo(Json.parse("{\"id\":6}"));
        assertThat(event.has("unchanged")).isFalse();
        assertThat(event.get("degraded").textValue()).isEqualTo("change_too_large");

        JsonNode withoutKey =
                event(encoder.body(Operation.UPDATE, Transition.NONE, projection(2), Images.RECORD_AND_OLD));
        assertThat(withoutKey.has("degraded")).isFalse();
        JsonNode half = event(encoder.body(Operation.UPDATE, Transition.NONE, VISIBLE, Images.RECORD));
        assertThat(half.has("degraded")).isFalse();
    }

    @Test
    void a_change_as_large_as_may_be_is_sent_whole_and_a_larger_one_is_counted_once_however_many_see_it() {
        encoder.beginChange(new Change.Insert(NOTES, tuple("7", "y".repeat(997), "s", "1")), MAPPING);
        assertThat(event(encoder.body(Operation.INSERT, Transition.NONE, projection(1, 2, 3, 4), Images.RECORD))
                        .has("degraded"))
                .isFalse();
        assertThat(cut).isEmpty();

        encoder.beginChange(new Change.Insert(NOTES, tuple("7", "y".repeat(998), "s", "1")), MAPPING);
        assertThat(event(encoder.body(Operation.INSERT, Transition.NONE, projection(1, 2, 3, 4), Images.RECORD))
                        .has("degraded"))
                .isTrue();
        encoder.body(Operation.INSERT, Transition.ENTER, projection(1, 2, 3, 4), Images.RECORD);
        assertThat(cut).containsExactly(NOTES);
    }

    @Test
    void a_delete_that_could_not_be_decided_shows_the_projected_key_only_whatever_its_size() {
        encoder.beginChange(new Change.Delete(NOTES, tuple("6", "x", "s", "1")), MAPPING);
        JsonNode event = event(encoder.body(Operation.DELETE, Transition.NONE, VISIBLE, Images.OLD_KEY));
        assertThat(event.get("old")).isEqualTo(Json.parse("{\"id\":6}"));
        assertThat(event.has("record")).isFalse();
        assertThat(event.get("degraded").textValue()).isEqualTo("delete_authz_unavailable");
        JsonNode keyless = event(encoder.body(Operation.DELETE, Transition.NONE, projection(2, 4), Images.OLD_KEY));
        assertThat(keyless.has("old")).isFalse();
        assertThat(cut).isEmpty();
    }

    @Test
    void a_degraded_event_never_shows_a_key_outside_the_projection() {
        encoder.beginChange(new Change.Insert(NOTES, tuple("7", "y".repeat(1001), "s", "1")), MAPPING);
        JsonNode event = event(encoder.body(Operation.INSERT, Transition.NONE, projection(2, 4), Images.RECORD));
        assertThat(event.has("record")).isFalse();
        assertThat(event.has("degraded")).isTrue();
    }

    @Test
    void a_key_too_large_leaves_the_images_out() {
        encoder.beginChange(new Change.Insert(NOTES, tuple("1".repeat(1001), "y", "s", "1")), MAPPING);
        EventBody body = encoder.body(Operation.INSERT, Transition.NONE, VISIBLE, Images.RECORD);
        assertThat(body.tail()).hasSizeLessThan(300);
        assertThat(event(body).has("degraded")).isTrue();
    }

    @Test
    void equal_questions_are_encoded_once_and_different_ones_are_not_mixed_up() {
        encoder.beginChange(new Change.Insert(NOTES, tuple("7", "t", "s", "1")), MAPPING);
        EventBody first = encoder.body(Operation.INSERT, Transition.NONE, VISIBLE, Images.RECORD);
        assertThat(encoder.body(Operation.INSERT, Transition.NONE, projection(1, 2, 4), Images.RECORD))
                .isSameAs(first);
        assertThat(encoder.body(Operation.INSERT, Transition.ENTER, VISIBLE, Images.RECORD))
                .isNotSameAs(first);
        assertThat(encoder.body(Operation.UPDATE, Transition.NONE, VISIBLE, Images.RECORD))
                .isNotSameAs(first);
        assertThat(encoder.body(Operation.INSERT, Transition.NONE, projection(1), Images.RECORD))
                .isNotSameAs(first);
        encoder.beginChange(new Change.Insert(NOTES, tuple("8", "t", "s", "1")), MAPPING);
        assertThat(encoder.body(Operation.INSERT, Transition.NONE, VISIBLE, Images.RECORD))
                .isNotSameAs(first);
    }

    @Test
    void more_projections_than_are_remembered_still_get_their_own_columns() {
        encoder.beginChange(new Change.Insert(NOTES, tuple("7", "t", "s", "1")), MAPPING);
        List<Projection> projections = new ArrayList<>();
        for (int set = 1; set < 16; set++) {
            List<Integer> attnums = new ArrayList<>();
            for (int bit = 0; bit < 4; bit++) {
                if ((set >> bit & 1) == 1) {
                    attnums.add(bit + 1);
                }
            }
            projections.add(
                    projection(attnums.stream().mapToInt(Integer::intValue).toArray()));
        }
        for (int round = 0; round < 3; round++) {
            for (Projection projection : projections) {
                JsonNode record = event(encoder.body(Operation.INSERT, Transition.NONE, projection, Images.RECORD))
                        .get("record");
                assertThat(record.properties().stream().map(Map.Entry::getKey).toList())
                        .isEqualTo(projection.entries().stream()
                                .map(Projection.Entry::name)
                                .toList());
            }
        }
    }

    @Test
    void a_truncate_has_its_commit_and_no_row() {
        encoder.beginChange(new Change.Truncate(NOTES), MAPPING);
        assertThat(event(encoder.truncate())).isEqualTo(Json.parse("""
            {"op":"TRUNCATE","schema":"public","table":"notes","commit_lsn":"16/B374D848",
             "commit_time":"2026-09-29T20:24:42.39Z"}\
            """));
    }

    @Test
    void names_of_tables_are_escaped_and_follow_the_change() {
        var odd = new RelationDefinition(1, "s\"1", "t\n\\", 'd', List.of());
        encoder.beginChange(new Change.Truncate(NOTES), MAPPING);
        encoder.beginChange(new Change.Truncate(odd), MAPPING);
        JsonNode event = event(encoder.truncate());
        assertThat(event.get("schema").textValue()).isEqualTo("s\"1");
        assertThat(event.get("table").textValue()).isEqualTo("t\n\\");
    }

    @Test
    void commit_times_lose_trailing_zeros_only() {
        assertThat(Timestamps.rfc3339(Instant.parse("2026-09-29T20:24:00Z"))).isEqualTo("2026-09-29T20:24:00Z");
        assertThat(Timestamps.rfc3339(Instant.parse("2026-09-29T20:24:00.000001Z")))
                .isEqualTo("2026-09-29T20:24:00.000001Z");
        assertThat(Timestamps.rfc3339(Instant.parse("2026-09-29T20:24:00.1203Z")))
                .isEqualTo("2026-09-29T20:24:00.1203Z");
        assertThat(Timestamps.rfc3339(Instant.parse("1969-12-31T23:59:59.5Z"))).isEqualTo("1969-12-31T23:59:59.5Z");
    }

    /// Of a snapshot, which has no id.
    private static JsonNode row(EventBody body) {
        assertThat(body.commitLsn()).isEmpty();
        return Json.line(("{" + new String(body.tail(), StandardCharsets.UTF_8).stripTrailing())
                .getBytes(StandardCharsets.UTF_8));
    }

    private static JsonNode event(EventBody body) {
        String tail = new String(body.tail(), StandardCharsets.UTF_8);
        assertThat(new String(body.commitLsn(), StandardCharsets.US_ASCII)).isEqualTo("16/B374D848");
        assertThat(tail).startsWith("\"op\":").endsWith("}\n\n");
        return Json.line(bytes("{" + tail.substring(0, tail.length() - 2)));
    }

    private static Projection projection(int... attnums) {
        List<Projection.Entry> entries = new ArrayList<>();
        for (int attnum : attnums) {
            RelationDefinition.Column column = NOTES.columns().get(attnum - 1);
            entries.add(new Projection.Entry(
                    attnum,
                    column.name(),
                    new PgType.Base(column.typeOid(), "type"),
                    attnum == 1 ? Projection.Part.KEY : Projection.Part.OTHER));
        }
        return new Projection(entries);
    }

    private static Relation relation() {
        List<Column> columns = new ArrayList<>();
        for (int i = 0; i < NOTES.columns().size(); i++) {
            columns.add(new Column(
                    i + 1,
                    NOTES.columns().get(i).name(),
                    NOTES.columns().get(i).typeOid(),
                    -1,
                    Column.Nullability.NULLABLE,
                    Column.Generation.NONE,
                    0));
        }
        return new Relation(
                16_400,
                "public",
                "notes",
                Relation.Kind.TABLE,
                10,
                Relation.RowSecurity.ON,
                new ReplicaIdentity.Default(List.of(1)),
                columns,
                List.of(),
                List.of(),
                Map.of(),
                null,
                "",
                "",
                new Relation.Feed("", "", Map.of()));
    }

    private static Tuple tuple(@Nullable String... values) {
        var text = new StringBuilder();
        var kinds = new Tuple.Kind[values.length];
        var offsets = new int[values.length];
        var lengths = new int[values.length];
        for (int i = 0; i < values.length; i++) {
            String value = values[i];
            if (value == null) {
                kinds[i] = Tuple.Kind.NULL;
            } else if (value.equals(UNCHANGED)) {
                kinds[i] = Tuple.Kind.UNCHANGED;
            } else if (value.equals(NOT_SENT)) {
                kinds[i] = Tuple.Kind.NOT_SENT;
            } else {
                kinds[i] = Tuple.Kind.TEXT;
                offsets[i] = text.length();
                lengths[i] = value.length();
                text.append(value);
            }
        }
        return new Tuple(bytes(text.toString()), kinds, offsets, lengths);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
