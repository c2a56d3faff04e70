package sluice.core.datum;

import java.util.List;

/// `inet`, `cidr`, `macaddr` and `macaddr8`.
public final class NetworkTypes {
    public static final ValueType<Inet> INET = new InetType(869, 1041, "pg_catalog.inet", InetType.Kind.HOST);
    public static final ValueType<Inet> CIDR = new InetType(650, 651, "pg_catalog.cidr", InetType.Kind.NETWORK);
    public static final ValueType<Long> MACADDR = new HardwareAddressType(829, 1040, "pg_catalog.macaddr", 6);
    public static final ValueType<Long> MACADDR8 = new HardwareAddressType(774, 775, "pg_catalog.macaddr8", 8);

    static final List<ValueType<?>> ALL = List.of(INET, CIDR, MACADDR, MACADDR8);

    private NetworkTypes() {}

    /// The text a cast makes of an address, always with the size of its network.
    public static String shown(Inet value) {
        return value + "/" + value.bits();
    }
}
