package sluice.core.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.pgoutput.PgOutputMessage;
import sluice.core.pgoutput.PgOutputMessage.Begin;
import sluice.core.pgoutput.PgOutputMessage.Commit;
import sluice.core.pgoutput.PgOutputMessage.Delete;
import sluice.core.pgoutput.PgOutputMessage.Insert;
import sluice.core.pgoutput.PgOutputMessage.Message;
import sluice.core.pgoutput.PgOutputMessage.Relation;
import sluice.core.pgoutput.PgOutputMessage.Truncate;
import sluice.core.pgoutput.PgOutputMessage.Update;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

class TransactionAssemblerTest {
    private static final RelationDefinition KEYED = Rows.relation(1, 'd', "id*", "v", "big");
    private static final RelationDefinition OTHER = Rows.relation(2, 'd', "id*", "v", "big");
    private static final RelationDefinition FULL = Rows.relation(3, 'f', "a", "b");
    private static final String UNCHANGED = Rows.UNCHANGED;
    private static final String NOT_SENT = Rows.NOT_SENT;

    private final MemorySpillStore store = new MemorySpillStore();
    private final CatalogKeys keys = new CatalogKeys();

    private TransactionAssembler assembler(long bytesMax, TransactionImages images) {
        return new TransactionAssembler(
                keys, store, new TransactionAssembler.Bounds(bytesMax, 200, List.of("app:")), images);
    }

    private static List<WalEvent> events(TransactionAssembler assembler, List<PgOutputMessage> messages) {
        List<WalEvent> events = new ArrayList<>();
        for (PgOutputMessage message : messages) {
            assembler.accept(message);
            for (WalEvent event = assembler.next(); event != null; event = assembler.next()) {
                events.add(event);
            }
        }
        return events;
    }

    private static List<PgOutputMessage> transaction(long lsn, PgOutputMessage... rows) {
        List<PgOutputMessage> messages = new ArrayList<>();
        messages.add(new Begin(new Lsn(lsn), Instant.EPOCH, new Xid((int) lsn)));
        messages.addAll(List.of(rows));
        messages.add(new Commit(new Lsn(lsn), new Lsn(lsn + 8), Instant.EPOCH));
        return messages;
    }

    private List<String> net(PgOutputMessage... rows) {
        TransactionAssembler assembler = assembler(1 << 20, TransactionImages.NET);
        WalEvent event = events(assembler, transaction(100, rows)).getFirst();
        List<String> inMemory =
                Rows.print(((WalEvent.Committed) event).transaction().changes());

        // the same transaction where nothing fits in memory
        List<Change> spilled = new ArrayList<>();
        for (WalEvent each : events(assembler(1, TransactionImages.NET), transaction(100, rows))) {
            if (each instanceof WalEvent.SpilledChunk(var changes, var weight)) {
                spilled.addAll(changes);
            } else if (each instanceof WalEvent.Committed(var whole)) {
                spilled.addAll(whole.changes());
            }
        }
        assertThat(Rows.print(spilled)).isEqualTo(inMemory);
        assertThat(store.alive).isEmpty();
        assertThat(store.openReaders).isZero();
        return inMemory;
    }

    private static Insert insert(RelationDefinition relation, String... row) {
        return new Insert(relation, Rows.tuple(row));
    }

    private static Update update(RelationDefinition relation, List<String> old, String... row) {
        return new Update(relation, old.isEmpty() ? null : Rows.tuple(old), Rows.tuple(row));
    }

    private static Delete delete(RelationDefinition relation, String... old) {
        return new Delete(relation, Rows.tuple(old));
    }

    private static List<String> key(String id) {
        return List.of(id, NOT_SENT, NOT_SENT);
    }

    @Test
    void nothing_between_the_first_and_the_last_image_of_a_key_is_seen() {
        assertThat(net(insert(KEYED, "1", "secret", "b"), update(KEYED, List.of(), "1", "redacted", UNCHANGED)))
                .containsExactly("INSERT t1 [1, redacted, b]");
        assertThat(net(insert(KEYED, "1", "x", "b"), delete(KEYED, "1", NOT_SENT, NOT_SENT)))
                .isEmpty();
        assertThat(net(update(KEYED, List.of(), "1", "x", "b"), delete(KEYED, "1", NOT_SENT, NOT_SENT)))
                .containsExactly("DELETE t1 [1, <not sent>, <not sent>]");
        assertThat(net(delete(KEYED, "1", NOT_SENT, NOT_SENT), insert(KEYED, "1", "new", "b")))
                .containsExactly("UPDATE t1 [1, <not sent>, <not sent>] -> [1, new, b]");
    }

    @Test
    void deletes_come_before_the_rest_and_the_rest_in_order_of_the_log() {
        assertThat(net(
                        insert(KEYED, "5", "a", "b"),
                        insert(OTHER, "1", "a", "b"),
                        delete(KEYED, "9", NOT_SENT, NOT_SENT),
                        insert(KEYED, "4", "a", "b"),
                        update(KEYED, List.of(), "5", "later", UNCHANGED)))
                .containsExactly(
                        "DELETE t1 [9, <not sent>, <not sent>]",
                        "INSERT t2 [1, a, b]",
                        "INSERT t1 [4, a, b]",
                        "INSERT t1 [5, later, b]");
    }

    @Test
    void b14_an_unchanged_column_takes_what_an_earlier_image_carried() {
        assertThat(net(insert(KEYED, "2", "1", "zz"), update(KEYED, List.of(), "2", "3", UNCHANGED)))
                .containsExactly("INSERT t1 [2, 3, zz]");
        assertThat(net(update(KEYED, List.of(), "2", "3", UNCHANGED))).containsExactly("UPDATE t1 [2, 3, <unchanged>]");
        assertThat(net(update(KEYED, List.of(), "2", "3", UNCHANGED), update(KEYED, List.of(), "2", "4", UNCHANGED)))
                .containsExactly("UPDATE t1 [2, 4, <unchanged>]");
        assertThat(net(update(KEYED, List.of(), "2", "3", Rows.NULL), update(KEYED, List.of(), "2", "4", UNCHANGED)))
                .containsExactly("UPDATE t1 [2, 4, <null>]");
    }

    @Test
    void b14_full_fills_an_unchanged_column_from_the_old_tuple() {
        assertThat(net(update(FULL, List.of("1", "zz"), "2", UNCHANGED)))
                .containsExactly("UPDATE t3 [1, zz] -> [2, zz]");
        assertThat(net(
                        update(FULL, List.of("1", "zz"), "2", UNCHANGED),
                        update(FULL, List.of("2", "zz"), "3", UNCHANGED)))
                .containsExactly("UPDATE t3 [1, zz] -> [3, zz]");
    }

    @Test
    void b43_a_key_change_is_one_update_with_the_old_key() {
        assertThat(net(update(KEYED, key("1"), "1001", "x", UNCHANGED)))
                .containsExactly("UPDATE t1 [1, <not sent>, <not sent>] -> [1001, x, <unchanged>]");
        assertThat(net(update(KEYED, key("1"), "5", "x", UNCHANGED), update(KEYED, key("5"), "6", "x", UNCHANGED)))
                .containsExactly("UPDATE t1 [1, <not sent>, <not sent>] -> [6, x, <unchanged>]");
    }

    @Test
    void b43_a_key_that_comes_back_is_an_update_of_itself() {
        assertThat(net(
                        update(KEYED, key("2"), "5", "x", UNCHANGED),
                        update(KEYED, key("5"), "6", "x", UNCHANGED),
                        update(KEYED, key("6"), "2", "y", UNCHANGED)))
                .containsExactly("UPDATE t1 [2, <not sent>, <not sent>] -> [2, y, <unchanged>]");
    }

    @Test
    void b43_a_row_inserted_and_moved_is_an_insert_at_its_last_key() {
        assertThat(net(insert(KEYED, "9", "n", "b"), update(KEYED, key("9"), "10", "n", UNCHANGED)))
                .containsExactly("INSERT t1 [10, n, b]");
    }

    @Test
    void b43_a_swap_of_two_keys_loses_no_row_and_claims_nothing_unchanged() {
        assertThat(net(
                        update(KEYED, key("1"), "-1", "one", UNCHANGED),
                        update(KEYED, key("2"), "1", "two", UNCHANGED),
                        update(KEYED, key("-1"), "2", "one", UNCHANGED)))
                .containsExactly(
                        "UPDATE t1 [1, <not sent>, <not sent>] -> [1, two, <not sent>]",
                        "UPDATE t1 [2, <not sent>, <not sent>] -> [2, one, <not sent>]");
    }

    @Test
    void a_key_taken_over_by_another_row_is_not_reported_as_moved() {
        assertThat(net(update(KEYED, key("1"), "2", "x", "b"), insert(KEYED, "1", "new", "c")))
                .containsExactly("INSERT t1 [2, x, b]", "UPDATE t1 [1, <not sent>, <not sent>] -> [1, new, c]");
        assertThat(net(delete(KEYED, "2", NOT_SENT, NOT_SENT), update(KEYED, key("1"), "2", "x", "b")))
                .containsExactly(
                        "DELETE t1 [1, <not sent>, <not sent>]", "UPDATE t1 [2, <not sent>, <not sent>] -> [2, x, b]");
    }

    @Test
    void a_row_moved_and_then_deleted_is_a_delete_of_its_first_key() {
        assertThat(net(update(KEYED, key("1"), "2", "x", "b"), delete(KEYED, "2", NOT_SENT, NOT_SENT)))
                .containsExactly("DELETE t1 [1, <not sent>, <not sent>]");
    }

    @Test
    void an_old_tuple_that_comes_late_only_stands_for_the_identity() {
        // the second update's old tuple may hold what the first one wrote
        assertThat(net(update(KEYED, List.of(), "1", "x", "b"), update(KEYED, List.of("1", "x", "b"), "2", "y", "b")))
                .containsExactly("UPDATE t1 [1, <not sent>, <not sent>] -> [2, y, b]");
    }

    @Test
    void a_wider_identity_in_the_middle_does_not_make_a_state_between_the_old_one() {
        RelationDefinition whole = Rows.relation(1, 'f', "id", "v", "big");
        keys.use(CatalogKeysTest.catalogOf(1, "id", "v", "big"));
        assertThat(net(
                        update(KEYED, List.of(), "1", "between", "secret"),
                        update(whole, List.of("1", "between", "secret"), "1", "after", "b")))
                .containsExactly("UPDATE t1 [1, <not sent>, <not sent>] -> [1, after, b]");
        assertThat(net(update(KEYED, List.of(), "1", "between", "secret"), delete(whole, "1", "between", "secret")))
                .containsExactly("DELETE t1 [1, <not sent>, <not sent>]");
        assertThat(net(
                        update(KEYED, List.of(), "1", "between", "secret"),
                        update(whole, List.of("1", "between", "secret"), "2", "after", "b")))
                .containsExactly("UPDATE t1 [1, <not sent>, <not sent>] -> [2, after, b]");
    }

    @Test
    void b53_truncate_discards_earlier_images_of_its_tables_only() {
        assertThat(net(
                        insert(KEYED, "2", "a", "b"),
                        insert(OTHER, "7", "a", "b"),
                        new Truncate(List.of(KEYED, FULL)),
                        insert(KEYED, "3", "a", "b")))
                .containsExactly("TRUNCATE t1", "TRUNCATE t3", "INSERT t2 [7, a, b]", "INSERT t1 [3, a, b]");
    }

    @Test
    void rows_without_a_key_are_told_apart_by_all_they_hold() {
        assertThat(net(insert(FULL, "1", "x"), insert(FULL, "1", "x"), delete(FULL, "1", "x")))
                .containsExactly("INSERT t3 [1, x]");
        assertThat(net(delete(FULL, "1", "x"), delete(FULL, "1", "x")))
                .containsExactly("DELETE t3 [1, x]", "DELETE t3 [1, x]");
        assertThat(net(delete(FULL, "1", "x"), insert(FULL, "1", "x"))).containsExactly("UPDATE t3 [1, x] -> [1, x]");
        assertThat(net(
                        update(FULL, List.of("1", "x"), "2", "x"),
                        update(FULL, List.of("1", "x"), "2", "x"),
                        update(FULL, List.of("2", "x"), "3", "x")))
                .containsExactly("UPDATE t3 [1, x] -> [2, x]", "UPDATE t3 [1, x] -> [3, x]");
    }

    @Test
    void a_new_identity_in_the_middle_does_not_show_what_lies_before_it() {
        RelationDefinition byCode = Rows.relation(1, 'i', "id", "v*", "big");
        assertThat(net(
                        insert(KEYED, "1", "code", "secret"),
                        insert(KEYED, "2", "other", "b"),
                        update(byCode, List.of(), "1", "code", "redacted")))
                .containsExactly("INSERT t1 [2, other, b]", "INSERT t1 [1, code, redacted]");
        assertThat(net(update(KEYED, key("1"), "7", "code", "secret"), delete(byCode, NOT_SENT, "code", NOT_SENT)))
                .containsExactly("DELETE t1 [1, <not sent>, <not sent>]");
    }

    @Test
    void a_column_added_in_the_middle_does_not_break_the_chain() {
        RelationDefinition wider = Rows.relation(1, 'd', "id*", "v", "big", "extra");
        assertThat(net(insert(KEYED, "1", "a", "b"), update(wider, List.of(), "1", "c", UNCHANGED, "e")))
                .containsExactly("INSERT t1 [1, c, b, e]");
    }

    @Test
    void a_value_does_not_follow_a_name_that_another_column_took_in_the_middle() {
        RelationDefinition swapped = Rows.relation(1, 'd', "id*", "big", "v");
        assertThat(net(
                        insert(KEYED, "1", "shown", "hidden"),
                        update(swapped, List.of(), "1", UNCHANGED, "hidden too"),
                        update(KEYED, List.of(), "1", UNCHANGED, UNCHANGED)))
                .containsExactly("INSERT t1 [1, <not sent>, <not sent>]");
    }

    @Test
    void every_image_is_kept_only_when_asked_for() {
        List<PgOutputMessage> messages = transaction(
                100, insert(KEYED, "2", "a", "b"), new Truncate(List.of(KEYED)), insert(KEYED, "3", "a", "b"));
        WalEvent.Committed all = (WalEvent.Committed)
                events(assembler(1 << 20, TransactionImages.ALL), messages).getFirst();
        WalEvent.Committed net = (WalEvent.Committed)
                events(assembler(1 << 20, TransactionImages.NET), messages).getFirst();

        assertThat(Rows.print(all.transaction().everyImage()))
                .containsExactly("INSERT t1 [2, a, b]", "TRUNCATE t1", "INSERT t1 [3, a, b]");
        assertThat(net.transaction().everyImage()).isEmpty();
        assertThat(Rows.print(net.transaction().changes()))
                .isEqualTo(Rows.print(all.transaction().changes()));
    }

    @Test
    void a_commit_sent_again_is_discarded_and_counted() {
        TransactionAssembler assembler = assembler(1 << 20, TransactionImages.NET);
        List<PgOutputMessage> first = transaction(100, insert(KEYED, "1", "a", "b"));
        List<PgOutputMessage> second = transaction(108, insert(KEYED, "2", "a", "b"));
        assertThat(events(assembler, first)).hasSize(1);
        assembler.abandon();

        assertThat(events(assembler, first)).isEmpty();
        assertThat(assembler.discarded()).isEqualTo(1);
        assertThat(assembler.isIdle()).isTrue();
        // it starts where the first one ends
        assertThat(events(assembler, second)).hasSize(1);
        assertThat(assembler.lastEnd()).isEqualTo(new Lsn(116));
    }

    @Test
    void a_transaction_cut_off_by_a_lost_connection_leaves_nothing() {
        TransactionAssembler assembler = assembler(1, TransactionImages.NET);
        List<PgOutputMessage> whole = transaction(100, insert(KEYED, "1", "a", "b"), insert(KEYED, "2", "a", "b"));
        events(assembler, whole.subList(0, 3));
        assertThat(store.alive).isNotEmpty();
        assertThat(assembler.isIdle()).isFalse();

        assembler.abandon();

        assertThat(store.alive).isEmpty();
        assertThat(assembler.isIdle()).isTrue();
        assertThat(events(assembler, whole)).isNotEmpty();
    }

    @Test
    void definitions_are_announced_with_the_commit_that_brought_them() {
        TransactionAssembler assembler = assembler(1 << 20, TransactionImages.NET);
        WalEvent first = events(assembler, transaction(100, new Relation(KEYED), insert(KEYED, "1", "a", "b")))
                .getFirst();
        WalEvent second = events(assembler, transaction(200, insert(KEYED, "2", "a", "b")))
                .getFirst();

        assertThat(((WalEvent.Committed) first).transaction().announced()).containsExactly(KEYED);
        assertThat(((WalEvent.Committed) second).transaction().announced()).isEmpty();
    }

    @Test
    void messages_follow_their_commit_or_stand_alone_and_others_prefixes_are_dropped() {
        TransactionAssembler assembler = assembler(1 << 20, TransactionImages.NET);
        Message inside = new Message(true, new Lsn(50), "app:room", new byte[] {1});
        Message alone = new Message(false, new Lsn(60), "app:room", new byte[] {2});
        Message foreign = new Message(false, new Lsn(61), "other", new byte[] {3});

        assertThat(events(assembler, List.of(alone, foreign))).hasSize(1);
        WalEvent.Committed commit =
                (WalEvent.Committed) events(assembler, transaction(100, inside)).getFirst();
        assertThat(commit.transaction().messages()).hasSize(1);
        // sent again after a reconnect
        assertThat(events(assembler, List.of(alone))).isEmpty();
    }

    @Test
    void a_spilled_commit_comes_as_head_bounded_pieces_and_end() {
        TransactionAssembler assembler = assembler(500, TransactionImages.NET);
        PgOutputMessage[] rows = new PgOutputMessage[50];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = insert(KEYED, "" + i, "some text", "b");
        }
        List<WalEvent> events = events(assembler, transaction(100, rows));

        assertThat(events.getFirst()).isInstanceOf(WalEvent.SpilledBegin.class);
        assertThat(events.getLast()).isInstanceOf(WalEvent.SpilledEnd.class);
        assertThat(events).hasSizeGreaterThan(4);
        assertThat(events.subList(1, events.size() - 1)).allSatisfy(event -> {
            assertThat(event).isInstanceOf(WalEvent.SpilledChunk.class);
            assertThat(event.weightBytes()).isLessThan(1200);
        });
        assertThat(store.alive).isEmpty();
        assertThat(store.openReaders).isZero();
    }

    @Test
    void messages_past_the_bound_stop_with_the_setting_named() {
        TransactionAssembler assembler = assembler(100, TransactionImages.NET);
        Message big = new Message(true, new Lsn(50), "app:room", new byte[200]);

        assertThatThrownBy(() -> events(assembler, transaction(100, big)))
                .isInstanceOf(SpillException.class)
                .hasMessageContaining("SLUICE_TRANSACTION_MEMORY");
    }

    @Test
    void every_image_of_a_spilled_commit_comes_in_the_order_of_the_log_before_its_net_images() {
        PgOutputMessage[] rows = {
            insert(KEYED, "2", "a", "b"),
            update(KEYED, List.of(), "2", "c", UNCHANGED),
            new Truncate(List.of(KEYED)),
            insert(KEYED, "3", "a", "b"),
            delete(KEYED, "3", NOT_SENT, NOT_SENT),
            insert(KEYED, "1", "a", "b"),
            update(KEYED, List.of("1", NOT_SENT, NOT_SENT), "4", "a", "b")
        };
        List<String> whole = Rows.print(((WalEvent.Committed)
                        events(assembler(1 << 20, TransactionImages.ALL), transaction(100, rows))
                                .getFirst())
                .transaction()
                .everyImage());
        List<Change> every = new ArrayList<>();
        List<Change> net = new ArrayList<>();
        List<WalEvent> events = events(assembler(1, TransactionImages.ALL), transaction(100, rows));
        for (WalEvent event : events) {
            if (event instanceof WalEvent.SpilledImages(var changes, var weight)) {
                assertThat(net).isEmpty();
                every.addAll(changes);
            } else if (event instanceof WalEvent.SpilledChunk(var changes, var weight)) {
                net.addAll(changes);
            }
        }

        assertThat(events.getFirst()).isInstanceOf(WalEvent.SpilledBegin.class);
        assertThat(Rows.print(every)).hasSize(7).isEqualTo(whole);
        assertThat(Rows.print(every)).contains("TRUNCATE t1", "INSERT t1 [3, a, b]");
        assertThat(Rows.print(net)).isEqualTo(net(rows));
        assertThat(store.alive).isEmpty();
        assertThat(store.openReaders).isZero();
    }
}
