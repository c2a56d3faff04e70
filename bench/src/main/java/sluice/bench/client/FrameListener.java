package sluice.bench.client;

/// Told of each frame a stream received, in order, on the client's thread.
interface FrameListener {
    /// @param accepted whether every subscription of the request was granted
    void ready(boolean accepted);

    /// @param seq as the event says
    /// @param row number of the row, from its column `n`
    /// @param commitMicros when it was committed by PostgreSQL's clock, since the epoch
    /// @param calledMicros when the writer began to write it, from its column `t`, since the epoch
    void change(long seq, long row, long commitMicros, long calledMicros);

    /// @param number from the payload's member `n`
    /// @param takenMicros when the server took it in, since the epoch
    /// @param calledMicros when the publisher began to send it, from the payload's member `t`, since the epoch
    void broadcast(long number, long takenMicros, long calledMicros);

    /// A frame about the stream or a subscription that is not an answer to the request.
    ///
    /// @param text the frame, cut at 300 characters
    void failure(String text);

    /// A comment, or a warning.
    void other();

    /// Not what this client understands. Nothing more is told of the stream.
    void unreadable(String problem);
}
