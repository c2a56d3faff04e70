package sluice.core.function;

/// Oids of the polymorphic pseudo-types (`pg_type.dat`): what a function that takes any type declares.
public final class Pseudo {
    public static final int ANY = 2276;
    public static final int ANYARRAY = 2277;
    public static final int ANYELEMENT = 2283;
    public static final int ANYNONARRAY = 2776;
    public static final int ANYENUM = 3500;
    public static final int ANYRANGE = 3831;
    public static final int ANYCOMPATIBLE = 5077;
    public static final int ANYCOMPATIBLEARRAY = 5078;
    public static final int ANYCOMPATIBLENONARRAY = 5079;
    public static final int ANYCOMPATIBLERANGE = 5080;

    private Pseudo() {}

    /// Whether the oid is one of these.
    public static boolean isPseudo(int oid) {
        return switch (oid) {
            case ANY,
                    ANYARRAY,
                    ANYELEMENT,
                    ANYNONARRAY,
                    ANYENUM,
                    ANYRANGE,
                    ANYCOMPATIBLE,
                    ANYCOMPATIBLEARRAY,
                    ANYCOMPATIBLENONARRAY,
                    ANYCOMPATIBLERANGE -> true;
            default -> false;
        };
    }
}
