package sluice.core.datum;

/// A value of `inet` or `cidr`: an address and how many of its bits are the network's.
///
/// @param high the first 64 bits; an IPv4 address is the upper half of them, the rest is zero
/// @param low the last 64 bits of an IPv6 address, else zero
/// @param bits 0 to 32 or 128
public record Inet(Family family, long high, long low, int bits) implements Comparable<Inet> {
    /// Declared in their order.
    public enum Family {
        IPV4(4, 32),
        IPV6(6, 128);

        private final int number;
        private final int width;

        Family(int number, int width) {
            this.number = number;
            this.width = width;
        }

        public int number() {
            return number;
        }

        /// Bits of an address.
        public int width() {
            return width;
        }
    }

    /// By the network, then wider networks first, then by the address (`network_cmp_internal`).
    @Override
    public int compareTo(Inet other) {
        int order = family.compareTo(other.family);
        if (order == 0) {
            order = comparePrefix(other, Math.min(bits, other.bits));
        }
        if (order == 0) {
            order = Integer.compare(bits, other.bits);
        }
        return order == 0 ? comparePrefix(other, family.width()) : order;
    }

    /// Whether the first so many bits are the same, and the family.
    public boolean sharesPrefix(Inet other, int length) {
        return family == other.family && comparePrefix(other, length) == 0;
    }

    private int comparePrefix(Inet other, int length) {
        int order = Long.compareUnsigned(high & highMask(length), other.high & highMask(length));
        return order != 0 ? order : Long.compareUnsigned(low & lowMask(length), other.low & lowMask(length));
    }

    private static long highMask(int length) {
        return length == 0 ? 0 : length >= 64 ? -1 : -1L << (64 - length);
    }

    private static long lowMask(int length) {
        return length <= 64 ? 0 : -1L << (128 - length);
    }

    /// The same address in a network of that size.
    public Inet withBits(int length) {
        return new Inet(family, high, low, length);
    }

    /// Another address of the family; what lies outside of its width is dropped.
    public Inet withAddress(long newHigh, long newLow) {
        return new Inet(family, newHigh & highMask(family.width()), newLow & lowMask(family.width()), bits);
    }

    /// All bits of the network set and no other.
    public Inet netmask() {
        return withAddress(highMask(bits), lowMask(bits));
    }

    /// The first address of the network.
    public Inet network() {
        return withAddress(high & highMask(bits), low & lowMask(bits));
    }

    /// The last address of the network.
    public Inet broadcast() {
        return withAddress(high | ~highMask(bits), low | ~lowMask(bits));
    }

    public boolean isWhole() {
        return bits == family.width();
    }

    /// The address without the size of the network.
    @Override
    public String toString() {
        return InetText.address(this);
    }
}
