package sluice.core.transaction;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/// Runs in memory, and a count of those not given back.
public final class MemorySpillStore implements SpillStore {
    final List<Run> alive = new ArrayList<>();
    int openReaders;
    int created;

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
