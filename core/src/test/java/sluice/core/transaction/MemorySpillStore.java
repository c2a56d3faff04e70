package sluice.core.transaction;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Runs in memory, and a count of those not given back.
public final class MemorySpillStore implements SpillStore {
    final List<Run> alive = new ArrayList<>();
    public final List<Kept> kept = new ArrayList<>();
    private final int keptBytesMax;
    int openReaders;
    int created;

    public MemorySpillStore() {
        this(0);
    }

    /// @param keptBytesMax of each commit that is kept; zero keeps none
    public MemorySpillStore(int keptBytesMax) {
        this.keptBytesMax = keptBytesMax;
    }

    @Override
    public @Nullable Keeping keep() {
        if (keptBytesMax == 0) {
            return null;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        return new Keeping() {
            @Override
            public boolean write(byte[] source, int offset, int length) {
                bytes.write(source, offset, length);
                return bytes.size() <= keptBytesMax;
            }

            @Override
            public Kept finish() {
                Kept made = new MemoryKept(bytes.toByteArray());
                kept.add(made);
                return made;
            }

            @Override
            public void abandon() {
                bytes.reset();
            }
        };
    }

    private final class MemoryKept implements Kept {
        private final byte[] bytes;

        MemoryKept(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        public byte[] read(long position, int length) {
            if (!kept.contains(this)) {
                throw new SpillException("it is deleted");
            }
            return Arrays.copyOfRange(bytes, (int) position, (int) position + length);
        }

        @Override
        public void delete() {
            kept.remove(this);
        }
    }

    @Override
    public Writer create() {
        created++;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        return new Writer() {
            @Override
            public void write(byte[] source, int offset, int length) {
                bytes.write(source, offset, length);
            }

            @Override
            public Run finish() {
                Run run = new MemoryRun(bytes.toByteArray());
                alive.add(run);
                return run;
            }
        };
    }

    private final class MemoryRun implements Run {
        private final byte[] bytes;

        MemoryRun(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        public Reader open() {
            openReaders++;
            return new Reader() {
                private int position;

                @Override
                public int read(byte[] target, int offset, int length) {
                    int count = Math.min(length, bytes.length - position);
                    System.arraycopy(bytes, position, target, offset, count);
                    position += count;
                    return count == 0 ? -1 : count;
                }

                @Override
                public void close() {
                    openReaders--;
                }
            };
        }

        @Override
        public void delete() {
            alive.remove(this);
        }
    }
}
