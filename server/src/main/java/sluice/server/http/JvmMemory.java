package sluice.server.http;

import com.sun.management.GarbageCollectorMXBean;
import com.sun.management.GcInfo;
import com.sun.management.HotSpotDiagnosticMXBean;
import io.netty.util.internal.PlatformDependent;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import sluice.core.stream.Admission;

/// What this process's memory holds, as its collectors found it. Thread-safe and cheap between two collections.
///
/// Each part of the heap counts with what was in it after the last collection that looked at it. A young collection
/// leaves garbage in the old part, so this is never less than what is in use, and more until the old part is
/// collected too.
public final class JvmMemory {
    private final List<GarbageCollectorMXBean> collectors =
            ManagementFactory.getPlatformMXBeans(GarbageCollectorMXBean.class);
    private final List<BufferPoolMXBean> bufferPools = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class);
    private final Set<String> heapPools = ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .map(MemoryPoolMXBean::getName)
            .collect(Collectors.toUnmodifiableSet());

    private long collections = -1;
    private long heapBytes;

    /// What the process may use at most.
    public static Admission.Limits limits(double share) {
        long heap = Runtime.getRuntime().maxMemory();
        String given = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .getVMOption("MaxDirectMemorySize")
                .getValue();
        long direct = Long.parseLong(given);
        // the JVM's own default is as much again as the heap
        return new Admission.Limits(heap, direct > 0 ? direct : heap, share);
    }

    public synchronized Admission.Reading read() {
        long count = 0;
        for (GarbageCollectorMXBean collector : collectors) {
            count += Math.max(0, collector.getCollectionCount());
        }
        if (count != collections) {
            collections = count;
            heapBytes = heapBytes();
        }
        return new Admission.Reading(heapBytes, directBytes(), count);
    }

    /// Has the whole heap collected; may take as long as that takes.
    public static void collect() {
        ManagementFactory.getMemoryMXBean().gc();
    }

    private long heapBytes() {
        Map<String, Long> newest = new HashMap<>();
        Map<String, Long> bytes = new HashMap<>();
        for (GarbageCollectorMXBean collector : collectors) {
            GcInfo last = collector.getLastGcInfo();
            if (last == null) {
                continue;
            }
            for (String pool : collector.getMemoryPoolNames()) {
                MemoryUsage after = last.getMemoryUsageAfterGc().get(pool);
                boolean newer = newest.getOrDefault(pool, -1L) < last.getEndTime();
                if (heapPools.contains(pool) && after != null && newer) {
                    newest.put(pool, last.getEndTime());
                    bytes.put(pool, after.getUsed());
                }
            }
        }
        return bytes.values().stream().mapToLong(Long::longValue).sum();
    }

    /// The JVM counts the buffers it cleans, Netty those it made, which are partly the same.
    private long directBytes() {
        long ofJvm = 0;
        for (BufferPoolMXBean pool : bufferPools) {
            ofJvm += pool.getName().equals("direct") ? Math.max(0, pool.getMemoryUsed()) : 0;
        }
        return Math.max(ofJvm, PlatformDependent.usedDirectMemory());
    }
}
