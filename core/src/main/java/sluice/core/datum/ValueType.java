package sluice.core.datum;

import java.nio.ByteBuffer;

/// A type of PostgreSQL whose values are held, printed and compared in process.
///
/// Two instances are the same type when their oids are.
///
/// @param <T> the Java form of a value: immutable, never null
public abstract class ValueType<T> {
    private final int oid;
    private final int arrayOid;
    private final String sqlName;
    private final Storage storage;

    /// @param arrayOid oid of the type's array, 0 when there is none that is supported
    /// @param sqlName the name to write in SQL, qualified and quoted so that no search path can
    /// turn it into another
    protected ValueType(int oid, int arrayOid, String sqlName, Storage storage) {
        this.oid = oid;
        this.arrayOid = arrayOid;
        this.sqlName = sqlName;
        this.storage = storage;
    }

    /// How a compiled expression may hold a value without making an object of it.
    public enum Representation {
        TRUTH,
        /// A whole number of at most 64 bits.
        INTEGER,
        /// A date or timestamp, as the whole number that counts from 2000-01-01; {@link MomentText} reads it.
        MOMENT,
        /// The text's UTF-8, canonical and compared unsigned.
        BYTES,
        /// Only as a Java value.
        OBJECT
    }

    /// Reads what the server prints for a value, under the settings every connection pins (ISO
    /// dates, UTC, hex bytes,
    /// shortest exact floats).
    ///
    /// @throws EvaluationException when it is not such a text
    public abstract T parse(String text);

    /// Reads a text as a cast from text does, whoever wrote it.
    ///
    /// @throws EvaluationException when PostgreSQL does not accept it
    /// @throws UndecidableException when it is not known here what PostgreSQL makes of it
    public T input(String text) {
        throw new UndecidableException();
    }

    /// A text that is exactly what the server prints for some value; it is read as that value.
    ///
    /// @throws UndecidableException for any other text
    protected final T printed(String text) {
        T value = parse(text);
        if (!print(value).equals(text)) {
            throw new UndecidableException();
        }
        return value;
    }

    /// The text the server prints for the value under those settings.
    public abstract String print(T value);

    /// Reads a stored value.
    ///
    /// @param datum little-endian and exactly the value: without the length header of a variable-length type
    /// @throws DatumFormatException when it is not such a value
    public abstract T decode(ByteBuffer datum) throws DatumFormatException;

    /// The order of the type's default btree operators, equality included. For a type with a
    /// collation, the order of
    /// the bytes.
    ///
    /// @throws UndecidableException when the type has no order, or not one that is computed here
    public abstract int compare(T left, T right);

    /// `pg_type.oid`.
    public final int oid() {
        return oid;
    }

    public final int arrayOid() {
        return arrayOid;
    }

    public final String sqlName() {
        return sqlName;
    }

    public final Storage storage() {
        return storage;
    }

    public Representation representation() {
        return Representation.OBJECT;
    }

    /// Whether PostgreSQL's comparison of two values asks a collation.
    public boolean collatable() {
        return false;
    }

    /// Whether {@link #input} knows what a cast from text makes of ordinary texts.
    public boolean readsText() {
        return true;
    }

    /// Whether values can be compared by {@link #compare}.
    public boolean isOrdered() {
        return true;
    }

    /// Whether a value of the other type is one of this type as it is: same Java form, same meaning, same text.
    public boolean hasFormOf(ValueType<?> other) {
        return equals(other);
    }

    /// Whether it is a range type.
    public boolean isRange() {
        return false;
    }

    /// The value as this type's Java form.
    ///
    /// @throws ClassCastException when it is not one; types are checked when an expression is built
    public abstract T cast(Object value);

    /// {@link #compare} of two values known to be of this type.
    public final int order(Object left, Object right) {
        return compare(cast(left), cast(right));
    }

    /// {@link #print} of a value known to be of this type.
    public final String text(Object value) {
        return print(cast(value));
    }

    @Override
    public final boolean equals(Object other) {
        return other instanceof ValueType<?> type && type.oid == oid;
    }

    @Override
    public final int hashCode() {
        return oid;
    }

    /// The name in SQL.
    @Override
    public final String toString() {
        return sqlName;
    }
}
