package sluice.core.function;

import static sluice.core.datum.NetworkTypes.CIDR;
import static sluice.core.datum.NetworkTypes.INET;
import static sluice.core.datum.NetworkTypes.MACADDR;
import static sluice.core.datum.NetworkTypes.MACADDR8;
import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.INT4;
import static sluice.core.datum.ValueTypes.INT8;
import static sluice.core.datum.ValueTypes.TEXT;

import java.math.BigInteger;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.Inet;
import sluice.core.datum.NetworkTypes;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;

/// `inet`, `cidr` (`network.c`) and hardware addresses (`mac.c`, `mac8.c`).
final class NetworkFunctions {
    private static final String INVALID_PARAMETER = "22023";
    private static final String OUT_OF_RANGE = "22003";

    private NetworkFunctions() {}

    static void register(FunctionTable table) {
        comparisons(table);
        parts(table);
        texts(table);
        arithmetic(table);
        hardware(table);
    }

    private static void comparisons(FunctionTable table) {
        table.ordered("network_", INET);
        table.binary("network_sub", INET, INET, BOOL, (a, b) -> a.bits() > b.bits() && a.sharesPrefix(b, b.bits()))
                .neverRaises();
        table.binary("network_subeq", INET, INET, BOOL, (a, b) -> a.bits() >= b.bits() && a.sharesPrefix(b, b.bits()))
                .neverRaises();
        table.binary("network_sup", INET, INET, BOOL, (a, b) -> a.bits() < b.bits() && a.sharesPrefix(b, a.bits()))
                .neverRaises();
        table.binary("network_supeq", INET, INET, BOOL, (a, b) -> a.bits() <= b.bits() && a.sharesPrefix(b, a.bits()))
                .neverRaises();
        table.binary("network_overlap", INET, INET, BOOL, (a, b) -> a.sharesPrefix(b, Math.min(a.bits(), b.bits())))
                .neverRaises();
        table.binary("network_larger", INET, INET, INET, (a, b) -> a.compareTo(b) > 0 ? a : b)
                .neverRaises();
        table.binary("network_smaller", INET, INET, INET, (a, b) -> a.compareTo(b) < 0 ? a : b)
                .neverRaises();
        table.binary("inet_same_family", INET, INET, BOOL, (a, b) -> a.family() == b.family())
                .neverRaises();
    }

    private static void parts(FunctionTable table) {
        table.unary("network_masklen", INET, INT4, a -> (long) a.bits()).neverRaises();
        table.unary("network_family", INET, INT4, a -> (long) a.family().number())
                .neverRaises();
        table.unary("network_netmask", INET, INET, a -> whole(a.netmask())).neverRaises();
        table.unary("network_hostmask", INET, INET, a -> whole(inverted(a.netmask())))
                .neverRaises();
        table.unary("network_broadcast", INET, INET, Inet::broadcast).neverRaises();
        table.unary("network_network", INET, CIDR, Inet::network).neverRaises();
        table.unary("inet_to_cidr", INET, CIDR, Inet::network).neverRaises();
        table.binary("inet_set_masklen", INET, INT4, INET, NetworkFunctions::sized);
        table.binary(
                "cidr_set_masklen",
                CIDR,
                INT4,
                CIDR,
                (a, bits) -> sized(a, bits).network());
        table.binary("inet_merge", INET, INET, CIDR, (a, b) -> {
            requireSameFamily(a, b);
            int common = Math.min(a.bits(), b.bits());
            while (!a.sharesPrefix(b, common)) {
                common--;
            }
            return a.withBits(common).network();
        });
    }

    private static void texts(FunctionTable table) {
        table.unary("network_host", INET, TEXT, Inet::toString).neverRaises();
        table.unary("network_show", INET, TEXT, NetworkTypes::shown).neverRaises();
        table.unary("inet_abbrev", INET, TEXT, INET::print).neverRaises();
        table.unary("cidr_abbrev", CIDR, TEXT, NetworkFunctions::abbreviated);
    }

    private static void arithmetic(FunctionTable table) {
        table.unary("inetnot", INET, INET, NetworkFunctions::inverted).neverRaises();
        table.binary("inetand", INET, INET, INET, (a, b) -> {
            requireSameFamily(a, b);
            return a.withBits(Math.max(a.bits(), b.bits())).withAddress(a.high() & b.high(), a.low() & b.low());
        });
        table.binary("inetor", INET, INET, INET, (a, b) -> {
            requireSameFamily(a, b);
            return a.withBits(Math.max(a.bits(), b.bits())).withAddress(a.high() | b.high(), a.low() | b.low());
        });
        table.binary("inetpl", INET, INT8, INET, NetworkFunctions::moved);
        // The least number is its own negative, as in C.
        table.binary("inetmi_int8", INET, INT8, INET, (a, distance) -> moved(a, -distance));
        table.binary("inetmi", INET, INET, INT8, (a, b) -> {
            requireSameFamily(a, b);
            BigInteger distance = number(a).subtract(number(b));
            // Modulo 2^128: the distance of the last address from the first is -1.
            if (distance.shiftRight(64).longValue() != distance.longValue() >> 63) {
                throw new EvaluationException(OUT_OF_RANGE);
            }
            return distance.longValue();
        });
    }

    private static void hardware(FunctionTable table) {
        table.ordered("macaddr_", MACADDR);
        table.ordered("macaddr8_", MACADDR8);
        table.unary("macaddr_trunc", MACADDR, MACADDR, a -> a & 0xffff_ff00_0000L)
                .neverRaises();
        table.unary("macaddr8_trunc", MACADDR8, MACADDR8, a -> a & 0xffff_ff00_0000_0000L)
                .neverRaises();
        table.unary("macaddr_not", MACADDR, MACADDR, a -> ~a & 0xffff_ffff_ffffL)
                .neverRaises();
        table.unary("macaddr8_not", MACADDR8, MACADDR8, a -> ~a).neverRaises();
        bits(table, "macaddr", MACADDR);
        bits(table, "macaddr8", MACADDR8);
        table.unary("macaddr8_set7bit", MACADDR8, MACADDR8, a -> a | 0x0200_0000_0000_0000L)
                .neverRaises();
        table.unary("macaddrtomacaddr8", MACADDR, MACADDR8, a -> a >>> 24 << 40 | 0xff_fe00_0000L | (a & 0xff_ffffL))
                .neverRaises();
        table.unary("macaddr8tomacaddr", MACADDR8, MACADDR, a -> {
            if ((a >>> 24 & 0xffff) != 0xfffe) {
                throw new EvaluationException(OUT_OF_RANGE);
            }
            return a >>> 40 << 24 | (a & 0xff_ffffL);
        });
    }

    private static void bits(FunctionTable table, String prefix, ValueType<Long> type) {
        table.binary(prefix + "_and", type, type, type, (a, b) -> a & b).neverRaises();
        table.binary(prefix + "_or", type, type, type, (a, b) -> a | b).neverRaises();
    }

    private static Inet whole(Inet address) {
        return address.withBits(address.family().width());
    }

    private static Inet inverted(Inet address) {
        return address.withAddress(~address.high(), ~address.low());
    }

    /// @param bits -1 for all
    private static Inet sized(Inet address, long bits) {
        if (bits < -1 || bits > address.family().width()) {
            throw new EvaluationException(INVALID_PARAMETER);
        }
        return bits == -1 ? whole(address) : address.withBits((int) bits);
    }

    private static void requireSameFamily(Inet a, Inet b) {
        if (a.family() != b.family()) {
            throw new EvaluationException(INVALID_PARAMETER);
        }
    }

    private static Inet moved(Inet address, long distance) {
        int width = address.family().width();
        BigInteger number = number(address).add(BigInteger.valueOf(distance));
        if (number.signum() < 0 || number.bitLength() > width) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
        BigInteger aligned = number.shiftLeft(128 - width);
        return address.withAddress(aligned.shiftRight(64).longValue(), aligned.longValue());
    }

    private static BigInteger number(Inet address) {
        BigInteger all = unsigned(address.high()).shiftLeft(64).add(unsigned(address.low()));
        return all.shiftRight(128 - address.family().width());
    }

    private static BigInteger unsigned(long bits) {
        BigInteger number = BigInteger.valueOf(bits);
        return bits < 0 ? number.add(BigInteger.ONE.shiftLeft(64)) : number;
    }

    /// As many numbers as the network has.
    ///
    /// @throws UndecidableException for IPv6
    private static String abbreviated(Inet network) {
        if (network.family() == Inet.Family.IPV6) {
            throw new UndecidableException();
        }
        StringBuilder text = new StringBuilder(network.bits() == 0 ? "0" : "");
        for (int i = 0; i < network.bits(); i += 8) {
            text.append(i > 0 ? "." : "").append(network.high() >>> (56 - i) & 0xff);
        }
        return text.append('/').append(network.bits()).toString();
    }
}
