package sluice.core.wal;

/// A top-level transaction id as Begin carries it: 32 bits, compared by signed distance.
///
/// @param bits the 32-bit id
public record Xid(int bits) {
    @Override
    public String toString() {
        return Integer.toUnsignedString(bits);
    }
}
