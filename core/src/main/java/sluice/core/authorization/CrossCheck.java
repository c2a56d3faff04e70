package sluice.core.authorization;

/// Which decisions of one rule PostgreSQL is asked to confirm: the first ones, then one in so many. Counts, and draws
/// no lots. Shared by every subscription whose rule is made of the same policies; owned by the engine's thread.
public final class CrossCheck {
    /// Questions of the first ones that came to nothing are put again, this many times as many in all.
    private static final int ATTEMPTS = 4;

    private final int every;
    private int firstLeft;
    private int attemptsLeft;
    private int since;

    /// @param first so many decisions are confirmed; 0 for none
    /// @param every after these one in so many is; 0 for none
    public CrossCheck(int first, int every) {
        this.every = every;
        this.firstLeft = first;
        this.attemptsLeft = first * ATTEMPTS;
    }

    /// Counts one decision.
    ///
    /// @return whether PostgreSQL is to be asked about it
    public boolean isDue() {
        if (firstLeft > 0 && attemptsLeft > 0) {
            firstLeft--;
            attemptsLeft--;
            return true;
        }
        if (every == 0 || ++since < every) {
            return false;
        }
        since = 0;
        return true;
    }

    /// A question came to nothing: another decision takes its place, as long as attempts are left.
    public void cameToNothing() {
        if (attemptsLeft > 0) {
            firstLeft++;
        }
    }
}
