package sluice.core.datum;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The text forms of addresses (`inet_net_ntop.c`, `inet_net_pton.c`), as far as they are what the server prints or
/// plainly an address of four numbers.
final class InetText {
    private static final Pattern IPV4 =
            Pattern.compile("([0-9]{1,3})\\.([0-9]{1,3})\\.([0-9]{1,3})\\.([0-9]{1,3})(?:/([0-9]{1,3}))?");

    /// The longest address of IPv6 has 45 characters.
    private static final int LENGTH_MAX = 64;

    private InetText() {}

    /// An address, with or without the size of its network.
    ///
    /// @throws EvaluationException where a number is too large
    /// @throws UndecidableException for other spellings
    static Inet read(String text) {
        Matcher ipv4 = IPV4.matcher(text);
        if (ipv4.matches()) {
            long address = 0;
            for (int i = 1; i <= 4; i++) {
                address = address << 8 | number(ipv4.group(i), 255);
            }
            String bits = ipv4.group(5);
            return new Inet(Inet.Family.IPV4, address << 32, 0, bits == null ? 32 : number(bits, 32));
        }
        return ipv6(text);
    }

    /// Leading zeros are not read by all majors alike.
    private static int number(String digits, int max) {
        if (digits.length() > 1 && digits.charAt(0) == '0') {
            throw new UndecidableException();
        }
        int number = Integer.parseInt(digits);
        if (number > max) {
            throw InputText.invalid();
        }
        return number;
    }

    /// Read only when it is printed the same.
    private static Inet ipv6(String text) {
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        if (text.length() > LENGTH_MAX) {
            throw new UndecidableException();
        }
        try {
            int bits = slash < 0 ? 128 : number(text.substring(slash + 1), 128);
            int gap = address.indexOf("::");
            long[] words = gap < 0
                    ? words(address)
                    : filled(words(address.substring(0, gap)), words(address.substring(gap + 2)));
            if (words.length != 8) {
                throw new UndecidableException();
            }
            Inet read = new Inet(Inet.Family.IPV6, joined(words, 0), joined(words, 4), bits);
            if (!address(read).equals(address)) {
                throw new UndecidableException();
            }
            return read;
        } catch (NumberFormatException otherSpelling) {
            throw new UndecidableException();
        }
    }

    private static long joined(long[] words, int from) {
        return words[from] << 48 | words[from + 1] << 32 | words[from + 2] << 16 | words[from + 3];
    }

    private static long[] filled(long[] start, long[] end) {
        long[] words = new long[8];
        if (start.length + end.length > 7) {
            throw new UndecidableException();
        }
        System.arraycopy(start, 0, words, 0, start.length);
        System.arraycopy(end, 0, words, 8 - end.length, end.length);
        return words;
    }

    /// Hexadecimal numbers between colons, the last two perhaps written as an address of IPv4.
    private static long[] words(String text) {
        if (text.isEmpty()) {
            return new long[0];
        }
        String[] parts = text.split(":", -1);
        boolean mixed = parts[parts.length - 1].indexOf('.') >= 0;
        long[] words = new long[parts.length + (mixed ? 1 : 0)];
        for (int i = 0; i < parts.length - (mixed ? 1 : 0); i++) {
            words[i] = Integer.parseInt(parts[i], 16);
            if (words[i] < 0 || words[i] > 0xffff) {
                throw new UndecidableException();
            }
        }
        if (mixed) {
            Matcher ipv4 = IPV4.matcher(parts[parts.length - 1]);
            if (!ipv4.matches()) {
                throw new UndecidableException();
            }
            words[parts.length - 1] = (long) number(ipv4.group(1), 255) << 8 | number(ipv4.group(2), 255);
            words[parts.length] = (long) number(ipv4.group(3), 255) << 8 | number(ipv4.group(4), 255);
        }
        return words;
    }

    static String address(Inet inet) {
        StringBuilder out = new StringBuilder();
        switch (inet.family()) {
            case IPV4 -> bytes(out, inet.high() >>> 32);
            case IPV6 -> ipv6(out, inet);
        }
        return out.toString();
    }

    private static void bytes(StringBuilder out, long address) {
        out.append(address >> 24 & 0xff)
                .append('.')
                .append(address >> 16 & 0xff)
                .append('.')
                .append(address >> 8 & 0xff)
                .append('.')
                .append(address & 0xff);
    }

    /// The first of the longest runs of zeros is left out, and an address of IPv4 that is
    /// embedded is written as one.
    private static void ipv6(StringBuilder out, Inet inet) {
        long[] words = new long[8];
        for (int i = 0; i < 8; i++) {
            words[i] = (i < 4 ? inet.high() : inet.low()) >>> (48 - i % 4 * 16) & 0xffff;
        }
        Run run = longest(words);
        for (int i = 0; i < 8; i++) {
            if (i >= run.start() && i < run.end()) {
                out.append(i == run.start() ? ":" : "");
                continue;
            }
            out.append(i > 0 ? ":" : "");
            boolean embedded = run.start() == 0 && (run.end() == 6 || (run.end() == 5 && words[5] == 0xffff));
            if (i == 6 && embedded) {
                bytes(out, inet.low());
                return;
            }
            out.append(Long.toHexString(words[i]));
        }
        out.append(run.end() == 8 ? ":" : "");
    }

    private record Run(int start, int end) {}

    private static Run longest(long[] words) {
        Run best = new Run(-1, -1);
        int start = 0;
        for (int i = 0; i <= words.length; i++) {
            if (i == words.length || words[i] != 0) {
                if (i - start >= 2 && i - start > best.end() - best.start()) {
                    best = new Run(start, i);
                }
                start = i + 1;
            }
        }
        return best;
    }
}
