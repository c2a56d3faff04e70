package sluice.core.datum;

import java.nio.ByteBuffer;

/// Values one behind the other inside of an array or a range, each where its type's alignment has it.
///
/// Offsets count from behind the container's four-byte header, alignment from its start. Not thread-safe.
final class PackedValues {
    private final ByteBuffer container;
    private final ValueType<?> type;
    private int position;

    PackedValues(ByteBuffer container, ValueType<?> type, int start) {
        this.container = container;
        this.type = type;
        this.position = start;
    }

    Object next() throws DatumFormatException {
        int at = align(position, alignment(position));
        int length = length(at);
        Datums.need(length >= 1 && at >= 0 && at <= container.limit() - length);
        byte[] bytes = new byte[length];
        container.get(at, bytes);
        position = at + length;
        return Datums.decode(type, bytes);
    }

    private int length(int at) throws DatumFormatException {
        if (!type.storage().isVariable()) {
            return type.storage().length();
        }
        Datums.need(at >= 0 && at < container.limit());
        if ((container.get(at) & 1) == 1) {
            return (container.get(at) & 0xff) >> 1;
        }
        Datums.need(at <= container.limit() - 4);
        return container.getInt(at) >>> 2;
    }

    private int alignment(int at) throws DatumFormatException {
        if (!type.storage().isVariable()) {
            return type.storage().alignment();
        }
        Datums.need(at >= 0 && at < container.limit());
        // A one-byte header starts anywhere; padding is zero.
        return (container.get(at) & 1) == 1 ? 1 : type.storage().alignment();
    }

    static int align(int offset, int alignment) {
        return (offset + 4 + alignment - 1 & -alignment) - 4;
    }
}
