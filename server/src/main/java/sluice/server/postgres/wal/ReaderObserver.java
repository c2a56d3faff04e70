package sluice.server.postgres.wal;

import sluice.core.dispatch.Notice;

/// Told what the reader meets. Called on the reader's thread; must never wait.
public interface ReaderObserver {
    void notice(Notice notice);

    /// Messages decoded since this was told last.
    ///
    /// @param type of a fixed few: `begin`, `commit`, `insert` and so on
    void decoded(String type, long count);

    /// Commits that PostgreSQL sent again and that were dropped, since this was told last.
    void discarded(long count);

    /// A slot was made in place of one that was lost.
    void slotRecreated();

    /// Another timeline answers: sessions opened before may lead to a server that is primary no more.
    void timelineMoved();
}
