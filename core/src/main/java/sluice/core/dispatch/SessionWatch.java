package sluice.core.dispatch;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Relation;
import sluice.core.diagnostics.Census.Blindness;
import sluice.core.dispatch.EngineMetrics.RevocationSource;
import sluice.core.dispatch.RevocationSight.Watched;
import sluice.core.error.ErrorCode;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.session.BanTime;
import sluice.core.session.IdType;
import sluice.core.session.Identity;
import sluice.core.session.Refusal;
import sluice.core.session.RevocationTables;
import sluice.core.session.Revocations;
import sluice.core.session.Revocations.Moment;
import sluice.core.stream.CloseReason;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamState;
import sluice.core.transaction.Change;
import sluice.core.wal.Lsn;

/// Watches the tables of sessions and users in the log, and closes the streams of whom they end, and those whose
/// token has expired.
///
/// Each commit is shown before any row of it is dispatched, so a stream that the commit ends gets nothing of it. A
/// commit that comes in pieces is shown piece by piece: closing a stream drops what the open commit gave it.
///
/// A deleted row, a row whose id becomes another, and TRUNCATE end sessions; whatever the log does not let tell ends
/// all of them. Owned by the engine's thread.
final class SessionWatch {
    private static final int REVOCATIONS_LOGGED_MAX = 20;
    private static final int ID_CHARS_LOGGED_MAX = 256;

    /// What the watch needs of the engine.
    interface Host {
        CatalogImage catalog();

        /// Ends the stream and everything in it, telling the client why.
        void closeStream(StreamState stream, CloseReason reason, ErrorCode code, String message);
    }

    /// By which keys a stream is found.
    private record Keys(@Nullable String session, @Nullable String user, Instant expiresAt) {}

    private final Host host;
    private final EffectSink effects;
    private final EngineMetrics metrics;
    private final @Nullable RevocationTables tables;
    private final Revocations revocations;
    private final Map<StreamState, Keys> keysByStream = new LinkedHashMap<>();
    private final Map<String, Set<StreamState>> streamsBySession = new LinkedHashMap<>();
    private final Map<String, Set<StreamState>> streamsByUser = new LinkedHashMap<>();
    private final TreeMap<Instant, Set<StreamState>> streamsByExpiry = new TreeMap<>();

    private @Nullable IdType sessionType;
    private @Nullable IdType userType;
    /// Whether ids are compared as these types say.
    private boolean compared;

    private @Nullable CatalogImage seenCatalog;
    private @Nullable RelationDefinition seenSessions;
    private @Nullable RelationDefinition seenUsers;
    private @Nullable Blindness blindness;
    private @Nullable Watched watchedSessions;
    private @Nullable Watched watchedUsers;
    /// Whether bans were not seen for a while.
    private boolean bansUnseen;
    private int sessionsOid;
    private int usersOid;
    private Moment moment = new Moment(Lsn.ZERO, Instant.EPOCH);
    private int logged;
    private int unlogged;

    /// @param rules null where nothing is watched
    SessionWatch(Host host, EffectSink effects, EngineMetrics metrics, @Nullable SessionRules rules) {
        this.host = host;
        this.effects = effects;
        this.metrics = metrics;
        this.tables = rules == null ? null : rules.tables();
        this.revocations = rules == null ? Revocations.NONE : rules.revocations();
    }

    /// The code a caller is refused with.
    static ErrorCode code(Refusal refusal) {
        return switch (refusal) {
            case UNSEEN -> ErrorCode.SESSION_CHECK_UNAVAILABLE;
            case SESSION_REVOKED, USER_BANNED, SESSION_UNREADABLE, USER_UNREADABLE, ISSUED_TOO_EARLY ->
                ErrorCode.UNAUTHORIZED;
        };
    }

    /// Why the caller may not be served now, null when it may.
    @Nullable
    Refusal refusal(Identity caller, Instant now) {
        if (tables == null) {
            return null;
        }
        catalogMoved(now);
        return revocations.refusal(caller, now);
    }

    /// Refuses a stream that is being opened when its caller may not be served now.
    ///
    /// @return whether it did
    boolean refuses(StreamState opening, FrameSink sink, Instant now) {
        Refusal refusal = refusal(opening.identity(), now);
        if (refusal != null) {
            sink.refuse(opening.handle(), code(refusal), refusal.message());
        }
        return refusal != null;
    }

    /// Whether a table of this name ends sessions: its rows are nobody's to subscribe to.
    boolean isWatched(String schema, String table) {
        return tables != null && tables.name(schema, table);
    }

    /// Why it is not learnt which sessions end, null where it is, or where none ever do.
    @Nullable
    Blindness blindness() {
        return blindness;
    }

    /// A stream may be found from here on. It is known under what its identity says now.
    void opened(StreamState stream) {
        Identity caller = stream.identity();
        Keys keys = new Keys(revocations.session(caller), revocations.user(caller), caller.expiresAt());
        keysByStream.put(stream, keys);
        add(streamsBySession, keys.session(), stream);
        add(streamsByUser, keys.user(), stream);
        add(streamsByExpiry, keys.expiresAt(), stream);
    }

    /// A stream is gone, or its identity is about to be another.
    void closed(StreamState stream) {
        Keys keys = keysByStream.remove(stream);
        if (keys != null) {
            remove(streamsBySession, keys.session(), stream);
            remove(streamsByUser, keys.user(), stream);
            remove(streamsByExpiry, keys.expiresAt(), stream);
        }
    }

    private static <K> void add(Map<K, Set<StreamState>> streams, @Nullable K key, StreamState stream) {
        if (key != null) {
            streams.computeIfAbsent(key, _ -> new LinkedHashSet<>(2)).add(stream);
        }
    }

    private static <K> void remove(Map<K, Set<StreamState>> streams, @Nullable K key, StreamState stream) {
        Set<StreamState> found = key == null ? null : streams.get(key);
        if (found != null) {
            found.remove(stream);
            if (found.isEmpty()) {
                streams.remove(key);
            }
        }
    }

    /// These changes of a commit are about to be dispatched.
    void before(List<Change> changes, Lsn commitLsn, Instant now) {
        if (tables == null) {
            return;
        }
        catalogMoved(now);
        logged = 0;
        unlogged = 0;
        for (Change change : changes) {
            RelationDefinition definition = change.relation();
            if (isSessions(definition)) {
                stand(commitLsn, now);
                sessionChanged(change);
            } else if (isUsers(definition)) {
                stand(commitLsn, now);
                userChanged(change);
            }
        }
        if (unlogged > 0) {
            effects.emit(new Effect.Log(new Notice(
                    Notice.Level.INFO,
                    "more sessions revoked",
                    List.of("count", String.valueOf(unlogged), "commit_lsn", commitLsn.toString()))));
        }
    }

    /// One object for all of a commit: the list keeps it.
    private void stand(Lsn commitLsn, Instant now) {
        if (!moment.commitLsn().equals(commitLsn)) {
            moment = new Moment(commitLsn, now);
        }
    }

    private boolean isSessions(RelationDefinition definition) {
        return definition.oid() == sessionsOid || is(tables == null ? null : tables.sessions(), definition);
    }

    private boolean isUsers(RelationDefinition definition) {
        RevocationTables.Table users = tables == null ? null : tables.users();
        return users != null && (definition.oid() == usersOid || is(users, definition));
    }

    private static boolean is(RevocationTables.@Nullable Table table, RelationDefinition definition) {
        return table != null
                && table.name().equals(definition.name())
                && table.schema().equals(definition.schema());
    }

    private void sessionChanged(Change change) {
        define(change.relation());
        switch (change) {
            case Change.Insert _ -> {}
            case Change.Update(var definition, var old, var row) -> {
                String before = old == null ? null : text(definition, old, RevocationTables.ID);
                if (before != null && !before.equals(text(definition, row, RevocationTables.ID))) {
                    end(before);
                }
            }
            case Change.Delete(var definition, var old) -> {
                String id = text(definition, old, RevocationTables.ID);
                if (id == null) {
                    endAll("a deleted row of the sessions table did not say which");
                } else {
                    end(id);
                }
            }
            case Change.Truncate _ -> endAll("the sessions table was truncated");
        }
    }

    private void end(String printed) {
        IdType type = sessionType;
        String key = type == null ? printed : type.printed(printed);
        boolean news = revocations.sessionEnded(key, moment);
        List<StreamState> streams = new ArrayList<>(streamsBySession.getOrDefault(key, new LinkedHashSet<>(0)));
        if (!news && streams.isEmpty()) {
            return;
        }
        metrics.revoked(RevocationSource.SESSION);
        for (StreamState stream : streams) {
            close(stream, Refusal.SESSION_REVOKED);
        }
        if (streams.isEmpty() && ++logged > REVOCATIONS_LOGGED_MAX) {
            unlogged++;
            return;
        }
        String shown = key.substring(0, Math.min(key.length(), ID_CHARS_LOGGED_MAX));
        log(
                Notice.Level.INFO,
                "session revoked; its streams were closed",
                "session_id",
                shown,
                "streams",
                String.valueOf(streams.size()));
    }

    private void endAll(String reason) {
        revocations.everySessionEnded(moment);
        metrics.revoked(RevocationSource.SESSION);
        int ended = 0;
        for (StreamState stream : new ArrayList<>(keysByStream.keySet())) {
            if (stream.identity().session() != null) {
                close(stream, Refusal.SESSION_REVOKED);
                ended++;
            }
        }
        log(
                Notice.Level.WARN,
                "every session revoked; their streams were closed",
                "reason",
                reason,
                "streams",
                String.valueOf(ended));
    }

    private void userChanged(Change change) {
        define(change.relation());
        switch (change) {
            case Change.Insert(var definition, var row) -> judge(definition, row);
            case Change.Update update -> judge(update.relation(), update.row());
            // an account that is gone is neither banned by it nor let in again
            case Change.Delete _, Change.Truncate _ -> {}
        }
    }

    private void judge(RelationDefinition definition, Tuple row) {
        String id = text(definition, row, RevocationTables.ID);
        int column = tables == null ? -1 : position(definition, tables.banColumn());
        IdType type = userType;
        if (id == null || column < 0 || type == null) {
            return;
        }
        String key = type.printed(id);
        switch (row.kind(column)) {
            case NULL -> revocations.unbanned(key, moment);
            case TEXT -> {
                int typeOid = definition.columns().get(column).typeOid();
                int base = host.catalog().type(typeOid).undomained().oid();
                Instant until = BanTime.parse(base, row.text(column));
                if (until.isAfter(moment.time())) {
                    ban(key, until);
                } else {
                    revocations.unbanned(key, moment);
                }
            }
            // as it was, and as it was judged then
            case UNCHANGED, NOT_SENT -> {}
        }
    }

    private void ban(String key, Instant until) {
        boolean news = revocations.banned(key, until, moment);
        List<StreamState> streams = new ArrayList<>(streamsByUser.getOrDefault(key, new LinkedHashSet<>(0)));
        if (!news && streams.isEmpty()) {
            return;
        }
        metrics.revoked(RevocationSource.BAN);
        for (StreamState stream : streams) {
            close(stream, Refusal.USER_BANNED);
        }
        log(Notice.Level.INFO, "user banned; their streams were closed", "streams", String.valueOf(streams.size()));
    }

    private void close(StreamState stream, Refusal why) {
        closed(stream);
        switch (why) {
            case USER_BANNED, USER_UNREADABLE ->
                host.closeStream(stream, CloseReason.USER_BANNED, ErrorCode.USER_BANNED, why.message());
            case SESSION_REVOKED, SESSION_UNREADABLE, ISSUED_TOO_EARLY ->
                host.closeStream(stream, CloseReason.SESSION_REVOKED, ErrorCode.SESSION_REVOKED, why.message());
            case UNSEEN ->
                host.closeStream(
                        stream,
                        CloseReason.SESSION_CHECK_UNAVAILABLE,
                        ErrorCode.SESSION_CHECK_UNAVAILABLE,
                        why.message());
        }
    }

    private void log(Notice.Level level, String message, String... fields) {
        List<String> all = new ArrayList<>(List.of(fields));
        all.add("commit_lsn");
        all.add(moment.commitLsn().toString());
        effects.emit(new Effect.Log(new Notice(level, message, all)));
    }

    /// The column's text, null when the tuple does not hold it.
    private static @Nullable String text(RelationDefinition definition, Tuple tuple, String name) {
        int column = position(definition, name);
        return column >= 0 && tuple.kind(column) == Tuple.Kind.TEXT ? tuple.text(column) : null;
    }

    private static int position(RelationDefinition definition, String name) {
        for (int i = 0; i < definition.columns().size(); i++) {
            if (definition.columns().get(i).name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    /// The log's definition of a table comes with its changes: ids are compared as it says.
    @SuppressWarnings("ReferenceEquality") // another object that says the same is only looked at again
    private void define(RelationDefinition definition) {
        if (blindness != null) {
            // nobody is let in before the catalog says that both tables are seen, and how their ids are compared
            return;
        }
        if (isSessions(definition)) {
            if (definition != seenSessions) {
                seenSessions = definition;
                compareAs(type(definition), userType);
            }
        } else if (definition != seenUsers) {
            seenUsers = definition;
            compareAs(sessionType, type(definition));
        }
    }

    private @Nullable IdType type(RelationDefinition definition) {
        int column = position(definition, RevocationTables.ID);
        return column < 0
                ? null
                : IdType.of(host.catalog().type(definition.columns().get(column).typeOid()));
    }

    /// Time has passed: tokens may have expired, and the catalog may be another.
    void tick(Instant now) {
        while (!streamsByExpiry.isEmpty() && !streamsByExpiry.firstKey().isAfter(now)) {
            for (StreamState stream : List.copyOf(streamsByExpiry.firstEntry().getValue())) {
                closed(stream);
                host.closeStream(stream, CloseReason.TOKEN_EXPIRED, ErrorCode.TOKEN_EXPIRED, "the token has expired");
            }
        }
        if (tables != null) {
            catalogMoved(now);
        }
    }

    @SuppressWarnings("ReferenceEquality") // a catalog is looked at once
    private void catalogMoved(Instant now) {
        CatalogImage catalog = host.catalog();
        RevocationTables watched = tables;
        if (catalog == seenCatalog || watched == null) {
            return;
        }
        seenCatalog = catalog;
        RevocationTables.Table usersTable = watched.users();
        Relation sessions = relation(catalog, watched.sessions());
        Relation users = usersTable == null ? null : relation(catalog, usersTable);
        Blindness ofUsers =
                usersTable == null ? null : RevocationSight.of(catalog, usersTable, users, watched.banColumn());
        Blindness ofSessions = RevocationSight.of(catalog, watched.sessions(), sessions, RevocationTables.ID);
        Blindness problem = ofSessions != null ? ofSessions : ofUsers;
        bansUnseen |= ofUsers != null;
        moment = new Moment(moment.commitLsn(), now);
        if (problem != null) {
            unseen(problem);
            return;
        }
        if (sessions == null) {
            throw new IllegalStateException("a table that is not there cannot be seen");
        }
        sessionsOid = sessions.oid();
        usersOid = users == null ? 0 : users.oid();
        Watched before = watchedSessions;
        Watched after = Watched.of(sessions, RevocationTables.ID);
        watchedSessions = after;
        if (before != null && (blindness != null || !before.reaches(after))) {
            endAll("rows of the sessions table may have gone without a word in the log");
        }
        compared &= blindness == null;
        blindness = null;
        compareAs(RevocationSight.ids(catalog, sessions), users == null ? null : RevocationSight.ids(catalog, users));
        if (users != null) {
            usersSeen(Watched.of(users, watched.banColumn()));
        }
        // the next change says by its own definition how its ids are compared
        seenSessions = null;
        seenUsers = null;
    }

    /// Bans that may have come without a word in the log are told by the age of tokens: whoever is banned gets
    /// no new one.
    private void usersSeen(Watched after) {
        Watched before = watchedUsers;
        watchedUsers = after;
        boolean missed = bansUnseen || (before != null && !before.reaches(after));
        bansUnseen = false;
        if (!missed) {
            return;
        }
        revocations.bansMissed(moment);
        int ended = 0;
        for (StreamState stream : new ArrayList<>(keysByStream.keySet())) {
            Refusal refusal = revocations.refusal(stream.identity(), moment.time());
            if (refusal != null) {
                close(stream, refusal);
                ended++;
            }
        }
        log(
                Notice.Level.WARN,
                "bans may have been missed; streams of users were closed",
                "reason",
                "rows of the users table may have been written without a word in the log",
                "streams",
                String.valueOf(ended));
    }

    private static @Nullable Relation relation(CatalogImage catalog, RevocationTables.Table table) {
        return catalog.relation(table.schema(), table.name());
    }

    private void unseen(Blindness problem) {
        if (problem.equals(blindness)) {
            return;
        }
        blindness = problem;
        revocations.unseen();
        List<StreamState> ended = new ArrayList<>();
        for (StreamState stream : keysByStream.keySet()) {
            if (revocations.refusal(stream.identity(), moment.time()) != null) {
                ended.add(stream);
            }
        }
        for (StreamState stream : ended) {
            close(stream, Refusal.UNSEEN);
        }
        log(
                Notice.Level.ERROR,
                "revocations are not seen; streams with a session or a subject were closed",
                "reason",
                problem.reason(),
                "streams",
                String.valueOf(ended.size()));
    }

    /// Streams are found under other keys from here on, and those that would be refused now are closed.
    private void compareAs(@Nullable IdType sessions, @Nullable IdType users) {
        if (same(sessions, sessionType) && same(users, userType) && compared) {
            return;
        }
        compared = true;
        sessionType = sessions;
        userType = users;
        revocations.compareAs(sessions, users);
        for (StreamState stream : new ArrayList<>(keysByStream.keySet())) {
            closed(stream);
            Refusal refusal = revocations.refusal(stream.identity(), moment.time());
            if (refusal == null) {
                opened(stream);
            } else {
                close(stream, refusal);
            }
        }
    }

    private static boolean same(@Nullable IdType one, @Nullable IdType other) {
        return one == null ? other == null : one.equals(other);
    }

    /// What was said of commits after this position never happened.
    void timelineLeft(Lsn at) {
        revocations.timelineLeft(at);
    }
}
