package sluice.core.datum;

import java.nio.ByteBuffer;
import sluice.core.value.PgType;

/// An enumeration, its values held as their position in the type's order.
public final class EnumType extends ValueType<Integer> {
    private final PgType.Enumeration enumeration;

    /// @param sqlName qualified and quoted
    public EnumType(PgType.Enumeration enumeration, int arrayOid, String sqlName) {
        super(enumeration.oid(), arrayOid, sqlName, Storage.fixed(4, 4));
        this.enumeration = enumeration;
    }

    /// @throws UndecidableException for a label added after the catalog was read
    @Override
    public Integer parse(String text) {
        for (int i = 0; i < enumeration.labels().size(); i++) {
            if (enumeration.labels().get(i).text().equals(text)) {
                return i;
            }
        }
        throw new UndecidableException();
    }

    @Override
    public Integer input(String text) {
        return parse(text);
    }

    @Override
    public String print(Integer value) {
        return enumeration.labels().get(value).text();
    }

    @Override
    public Integer decode(ByteBuffer datum) throws DatumFormatException {
        int labelOid = Datums.fixed(datum, 4).getInt(0);
        for (int i = 0; i < enumeration.labels().size(); i++) {
            if (enumeration.labels().get(i).oid() == labelOid) {
                return i;
            }
        }
        throw new DatumFormatException("a constant is a label that the type does not have");
    }

    @Override
    public int compare(Integer left, Integer right) {
        return Integer.compare(left, right);
    }

    @Override
    public Integer cast(Object value) {
        return (Integer) value;
    }

    public int labelCount() {
        return enumeration.labels().size();
    }
}
