package sluice.core.datum;

import java.nio.ByteBuffer;

/// `inet` and `cidr` (`network.c`), whose values are of one form; `cidr` has no bits behind the network's.
final class InetType extends ValueType<Inet> {
    /// `PGSQL_AF_INET`, and the one after it.
    private static final int IPV4 = 2;

    private final Kind kind;

    enum Kind {
        HOST,
        NETWORK
    }

    InetType(int oid, int arrayOid, String sqlName, Kind kind) {
        super(oid, arrayOid, sqlName, Storage.variable());
        this.kind = kind;
    }

    /// @throws UndecidableException for spellings that the server reads but does not print
    @Override
    public Inet parse(String text) {
        Inet value = InetText.read(text);
        if (kind == Kind.NETWORK && !value.equals(value.network())) {
            throw InputText.invalid();
        }
        return value;
    }

    @Override
    public Inet input(String text) {
        if (kind == Kind.NETWORK && text.indexOf('/') < 0) {
            // Once the class of an address told how large its network is.
            throw new UndecidableException();
        }
        return parse(text);
    }

    /// An `inet` that is a single address is printed without the size of its network.
    @Override
    public String print(Inet value) {
        return kind == Kind.HOST && value.isWhole() ? value.toString() : value + "/" + value.bits();
    }

    @Override
    public Inet decode(ByteBuffer datum) throws DatumFormatException {
        Datums.need(datum.remaining() >= 2);
        Inet.Family family = datum.get(0) == IPV4 ? Inet.Family.IPV4 : Inet.Family.IPV6;
        int bits = datum.get(1) & 0xff;
        Datums.need(datum.get(0) == IPV4 || datum.get(0) == IPV4 + 1);
        Datums.need(bits <= family.width() && datum.remaining() == 2 + family.width() / 8);
        long high = 0;
        long low = 0;
        for (int i = 0; i < family.width() / 8; i++) {
            long octet = datum.get(2 + i) & 0xffL;
            if (i < 8) {
                high |= octet << (56 - 8 * i);
            } else {
                low |= octet << (120 - 8 * i);
            }
        }
        return new Inet(family, high, low, bits);
    }

    @Override
    public int compare(Inet left, Inet right) {
        return left.compareTo(right);
    }

    @Override
    public Inet cast(Object value) {
        return (Inet) value;
    }

    /// A network is an `inet` as it is, and its text is read as the same.
    @Override
    public boolean hasFormOf(ValueType<?> other) {
        return equals(other) || (kind == Kind.HOST && other instanceof InetType);
    }
}
