package sluice.core.transaction;

/// One kind of record as bytes and back.
interface RecordCodec<T> {
    void write(T value, RecordBuffer out);

    T read(RecordBuffer in);

    /// Memory the record holds, roughly; never less than what it keeps alive alone.
    long weightBytes(T value);
}
