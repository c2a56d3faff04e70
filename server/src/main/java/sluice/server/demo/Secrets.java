package sluice.server.demo;

import java.security.SecureRandom;
import java.util.HexFormat;

/// Passwords that nobody types.
final class Secrets {
    private Secrets() {}

    /// 32 hexadecimal digits, fit for URLs and SQL literals as they are.
    static String password() {
        byte[] bytes = new byte[16];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
