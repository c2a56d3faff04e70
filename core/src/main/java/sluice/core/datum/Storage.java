package sluice.core.datum;

/// How the server stores a type's values (`pg_type.typlen`, `typalign`), which is how constants in stored expressions
/// are written.
///
/// @param length bytes of a fixed-length value, or {@link #VARIABLE}
/// @param alignment 1, 2, 4 or 8
public record Storage(int length, int alignment) {
    /// A value with a header that tells its length (`typlen` -1).
    public static final int VARIABLE = -1;

    public static Storage fixed(int length, int alignment) {
        return new Storage(length, alignment);
    }

    /// Variable length, aligned to four bytes.
    public static Storage variable() {
        return new Storage(VARIABLE, 4);
    }

    public boolean isVariable() {
        return length == VARIABLE;
    }
}
