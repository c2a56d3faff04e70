package sluice.server.demo;

import java.time.Duration;

/// The tokens handed out at start, and who each speaks for.
record DemoTokens(String alice, String bob, String carol, String serviceRole) {
    static final Duration VALIDITY = Duration.ofHours(24);
    static final String USER_ROLE = "authenticated";
    static final String SERVICE_ROLE = "service_role";

    static DemoTokens signedWith(DemoKey key) {
        return new DemoTokens(
                key.sign(Person.ALICE.id(), USER_ROLE, VALIDITY),
                key.sign(Person.BOB.id(), USER_ROLE, VALIDITY),
                key.sign(Person.CAROL.id(), USER_ROLE, VALIDITY),
                key.sign(null, SERVICE_ROLE, VALIDITY));
    }

    String of(Person person) {
        return switch (person) {
            case ALICE -> alice;
            case BOB -> bob;
            case CAROL -> carol;
        };
    }

    /// Tokens are never printed by accident.
    @Override
    public String toString() {
        return "DemoTokens";
    }
}
