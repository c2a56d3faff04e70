package sluice.core.stream;

import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.CrossCheck;
import sluice.core.authorization.Meaning;
import sluice.core.authorization.Rule;
import sluice.core.routing.RoutingKey;
import sluice.core.session.Identity;
import sluice.core.shape.Filter;
import sluice.core.shape.Operations;
import sluice.core.shape.Projection;
import sluice.core.shape.ShapeRequest;
import sluice.core.wal.Lsn;

/// One shape of one stream, as the engine serves it. Owned by the engine's thread.
///
/// Life: installed ACTIVE together with its stream's `ready`; RESOLVING while its rule is composed again after its
/// table's rights moved, during which its changes wait; ENDED for good when it is refused, revoked or its stream
/// closes.
public final class Subscription extends Recipient {
    /// Where in its life the subscription is.
    public enum State {
        ACTIVE,
        RESOLVING,
        ENDED
    }

    /// What the client was told last of deletes, and of rows that leave the shape.
    public enum Announced {
        /// Some are withheld, because the log does not carry what decides them.
        WITHHELD,
        /// They come without the key of the row, which the log does not carry.
        UNNAMED,
        NOTHING
    }

    private static final int TELLING_SECONDS_MIN = 10;

    private final StreamState stream;
    private final SubscriptionTag tag;
    private final ShapeRequest request;
    private final Operations operations;
    private Filter filter;
    private final int relationOid;
    private final @Nullable RoutingKey routingKey;
    private final int highestAttnum;

    private State state = State.ACTIVE;
    private Projection projection;
    private Rule rule;
    private Identity ruledFor;
    private @Nullable CrossCheck crossCheck;
    private @Nullable Rule priorRule;
    private Lsn priorUntil = Lsn.ZERO;
    private Lsn unknownFrom = Lsn.ZERO;
    private Lsn unknownUntil = Lsn.ZERO;
    private boolean columnsWidened;
    private Announced announced = Announced.NOTHING;
    private boolean columnsMoved;
    private int generation;
    private boolean countedSlow;
    private long seq;
    private long seqOfCommit;
    private long seqBeforeCommit;
    private boolean apart;
    private long firstCommit;
    private long withheld;
    private long withheldTold;
    private Instant toldAt = Instant.EPOCH;
    private @Nullable Lsn untoldFrom;
    private String history = "";

    public Subscription(StreamState stream, SubscriptionTag tag, Grant grant) {
        this.stream = stream;
        this.tag = tag;
        this.request = grant.request();
        this.operations = grant.operations();
        this.filter = grant.filter();
        this.relationOid = grant.relationOid();
        this.routingKey = grant.routingKey();
        this.projection = grant.projection();
        this.highestAttnum = grant.highestAttnum();
        this.rule = grant.rule();
        this.ruledFor = stream.identity();
        recount();
    }

    /// What a subscription is made of.
    ///
    /// @param highestAttnum of the table's columns at the time: later ones are not the shape's
    public record Grant(
            ShapeRequest request,
            Operations operations,
            Filter filter,
            int relationOid,
            @Nullable RoutingKey routingKey,
            Projection projection,
            int highestAttnum,
            Rule rule) {}

    @Override
    public StreamState stream() {
        return stream;
    }

    @Override
    public boolean isOver() {
        return state == State.ENDED || !stream.isOpen();
    }

    public SubscriptionTag tag() {
        return tag;
    }

    public String label() {
        return tag.label();
    }

    public ShapeRequest request() {
        return request;
    }

    public Operations operations() {
        return operations;
    }

    public Filter filter() {
        return filter;
    }

    public int relationOid() {
        return relationOid;
    }

    public @Nullable RoutingKey routingKey() {
        return routingKey;
    }

    public State state() {
        return state;
    }

    public Projection projection() {
        return projection;
    }

    /// What a newer projection shows that the shape was granted on: columns added since appear on
    /// subscribing again.
    public Projection ofOldColumns(Projection newer) {
        return new Projection(newer.entries().stream()
                .filter(column -> column.attnum() <= highestAttnum)
                .toList());
    }

    public Rule rule() {
        return rule;
    }

    /// Whether a rule composed for the stream's present caller shows what the present one does. What PostgreSQL
    /// decides may hang on who asks.
    public boolean keepsMeaning(Rule composed) {
        Identity caller = stream.identity();
        boolean sameCaller = Objects.equals(caller.subject(), ruledFor.subject())
                && caller.role().equals(ruledFor.role());
        return rule.meaning().sameAs(composed.meaning())
                && (sameCaller || !(composed.meaning() instanceof Meaning.Asked));
    }

    /// Which decisions of the rule PostgreSQL is to confirm; null for none.
    public @Nullable CrossCheck crossCheck() {
        return crossCheck;
    }

    public void checkedBy(@Nullable CrossCheck check) {
        crossCheck = check;
    }

    /// Counts the rules the subscription has had: a decision made under another one is made again.
    public int generation() {
        return generation;
    }

    /// The rule before the present one, while a commit at this LSN needs a yes of both: a catalog newer than the
    /// position widens nothing.
    public @Nullable Rule priorRule(Lsn commitLsn) {
        return priorRule != null && commitLsn.isBefore(priorUntil) ? priorRule : null;
    }

    /// Whether a commit at this LSN would show columns that may not have been granted yet.
    public boolean showsMoreThanBefore(Lsn commitLsn) {
        return columnsWidened && commitLsn.isBefore(priorUntil);
    }

    /// Rows of commits before `until` need this rule's yes too.
    ///
    /// While an earlier rule is in force still, which of the two held at a commit cannot be said: such rows are
    /// undecidable.
    ///
    /// @param position everything before it has been dispatched
    public void needsAlso(Rule prior, Lsn until, Lsn position) {
        if (isUpToDate()) {
            if (!position.isBefore(priorUntil)) {
                priorRule = null;
                columnsWidened = false;
            }
            if (!position.isBefore(until)) {
                return;
            }
        }
        priorRule = priorRule == null && state != State.RESOLVING ? prior : Rule.undecidable();
        priorUntil = priorUntil.max(until);
    }

    /// Nobody can say under which rights the commits from `position` to before `until` were made: their rows are
    /// undecidable.
    ///
    /// @param position everything before it has been dispatched
    public void rightsUnknown(Lsn position, Lsn until) {
        if (!position.isBefore(until)) {
            return;
        }
        boolean over = isUpToDate() && !position.isBefore(unknownUntil);
        unknownFrom = over ? position : unknownFrom.min(position);
        unknownUntil = unknownUntil.max(until);
    }

    /// It turned out that the rights at commits from here on are known.
    public void rightsKnownFrom(Lsn lsn) {
        unknownUntil = unknownUntil.min(lsn);
    }

    /// Whether the rights at a commit at this LSN cannot be known.
    public boolean knowsNoRights(Lsn commitLsn) {
        return !commitLsn.isBefore(unknownFrom) && commitLsn.isBefore(unknownUntil);
    }

    /// Whether it has had every commit that was dispatched.
    private boolean isUpToDate() {
        return stream.held().isEmpty() && !stream.isBehind() && !apart;
    }

    /// No one can say what held for commits before `until`: they are undecidable.
    public void undecidableBefore(Lsn until) {
        priorRule = Rule.undecidable();
        priorUntil = priorUntil.max(until);
    }

    /// Whose transactions its events are of: its own while it is fed apart, else its stream's.
    public Recipient recipient() {
        return apart ? this : stream;
    }

    /// Whether the subscription is fed apart from its stream: it reads a snapshot, or replays what it missed.
    public boolean isApart() {
        return apart;
    }

    public void stepApart() {
        apart = true;
    }

    /// From here on it sees each commit together with its stream.
    public void goLive() {
        apart = false;
    }

    /// The number of the first commit that is the subscription's, in the order of dispatch.
    public long firstCommit() {
        return firstCommit;
    }

    public void startsWith(long commitNumber) {
        firstCommit = commitNumber;
    }

    /// What the client knows of deletes from here on.
    public void announceDeletes(Announced told) {
        announced = told;
    }

    public Announced announced() {
        return announced;
    }

    /// The client was told that deletes are withheld, so not each of them is told of.
    public boolean announcedDeletes() {
        return announced == Announced.WITHHELD;
    }

    /// The columns it shows are other ones now, which its client is to be told.
    public void columnsMoved() {
        columnsMoved = true;
    }

    /// Whether the client is to be told so; asking forgets it.
    public boolean takeColumnsMoved() {
        boolean moved = columnsMoved;
        columnsMoved = false;
        return moved;
    }

    /// From here on its changes wait for {@link #resolved}.
    public void resolving() {
        state = State.RESOLVING;
        generation++;
        recount();
    }

    /// It has the rule it goes on under.
    ///
    /// @param newFilter means the same, by the types as they are now
    public void resolved(Rule newRule, Filter newFilter, Projection newProjection) {
        filter = newFilter;
        state = State.ACTIVE;
        for (Projection.Entry column : newProjection.entries()) {
            columnsWidened |= !projection.entries().contains(column);
        }
        rule = newRule;
        ruledFor = stream.identity();
        crossCheck = null;
        projection = newProjection;
        generation++;
        recount();
    }

    public void end() {
        state = State.ENDED;
        generation++;
        recount();
    }

    /// Whether changes of this subscription can be decided at once.
    public boolean decidesAtOnce() {
        return state == State.ACTIVE && rule.question() == null;
    }

    private void recount() {
        boolean slow = state != State.ENDED && !decidesAtOnce();
        if (slow != countedSlow) {
            countedSlow = slow;
            stream.addSlowSubscriptions(slow ? 1 : -1);
        }
    }

    public long nextSeq() {
        return ++seq;
    }

    /// The next number for a change of the commit with this serial, which {@link #rewind} may take back.
    public long nextSeq(long serial) {
        if (seqOfCommit != serial) {
            seqOfCommit = serial;
            seqBeforeCommit = seq;
        }
        return ++seq;
    }

    /// What the commit with this serial was given was taken back.
    public void rewind(long serial) {
        if (seqOfCommit == serial) {
            seq = seqBeforeCommit;
        }
    }

    public void countWithheld() {
        withheld++;
    }

    /// The earliest commit with a withheld change that the subscriber was not told of, null when there is none.
    public @Nullable Lsn untoldFrom() {
        return untoldFrom;
    }

    public void untoldFrom(@Nullable Lsn commit) {
        untoldFrom = commit;
    }

    /// What its positions are told apart by.
    public String history() {
        return history;
    }

    public void history(String digest) {
        history = digest;
    }

    /// How many withheld changes the subscriber is to be told of now; telling forgets them.
    ///
    /// @return 0 when there are none, or it was told less than ten seconds ago
    public long tellWithheld(Instant now) {
        return now.isBefore(toldAt.plusSeconds(TELLING_SECONDS_MIN)) ? 0 : tellWithheldAtOnce(now);
    }

    /// The same, however lately it was told.
    public long tellWithheldAtOnce(Instant now) {
        long untold = withheld - withheldTold;
        withheldTold = withheld;
        toldAt = untold > 0 ? now : toldAt;
        return untold;
    }
}
