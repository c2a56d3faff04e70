package sluice.core;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitCallTarget;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import sluice.testkit.rules.ArchitectureRules;

class ArchitectureTest {
    /// Upstream first. A package uses itself and the ones before it; a new package gets its place here.
    private static final List<String> STAGES = List.of(
            "error",
            "wal",
            "value",
            "catalog",
            "pgoutput",
            "transaction",
            "datum",
            "function",
            "expression",
            "membership",
            "shape",
            "routing",
            "authorization",
            "oracle",
            "hold",
            "event",
            "session",
            "stream",
            "channel",
            "resume",
            "snapshot",
            "cluster",
            "archive",
            "diagnostics",
            "dispatch");

    private static final Set<String> PACKAGES = Set.of(
            "java.lang",
            "java.lang.annotation",
            "java.lang.invoke",
            "java.lang.runtime",
            "java.math",
            "java.nio",
            "java.nio.charset",
            "java.security",
            "java.text",
            "java.time",
            "java.time.chrono",
            "java.time.format",
            "java.time.temporal",
            "java.time.zone",
            "java.util",
            "java.util.function",
            "java.util.regex",
            "java.util.stream",
            "java.util.zip",
            "org.jspecify.annotations");

    private static final Set<String> STREAMS_WITHOUT_FILES = Set.of(
            ByteArrayOutputStream.class.getName(),
            OutputStream.class.getName(),
            IOException.class.getName(),
            UncheckedIOException.class.getName(),
            Serializable.class.getName());

    private static final Set<String> OUTSIDE_WORLD = Set.of(
            "java.lang.Process",
            "java.lang.ProcessBuilder",
            "java.lang.ProcessHandle",
            "java.lang.Runtime",
            "java.lang.Thread",
            "java.lang.ThreadGroup",
            "java.lang.ThreadLocal",
            "java.lang.InheritableThreadLocal",
            "java.lang.ScopedValue",
            "java.security.SecureRandom",
            "java.time.Clock",
            "java.time.InstantSource",
            "java.util.Random",
            "java.util.Scanner",
            "java.util.SplittableRandom",
            "java.util.Timer",
            "java.util.TimerTask",
            "java.util.WeakHashMap");

    private static final JavaClasses CORE = ArchitectureRules.mainClasses("sluice.core");

    @Test
    void packages_depend_only_upstream() {
        ArchitectureRules.packageOrder("sluice.core", STAGES).check(CORE);
    }

    @Test
    void names_say_what_a_class_is() {
        ArchitectureRules.names().check(CORE);
    }

    @Test
    void statics_never_change() {
        ArchitectureRules.noMutableStatics().check(CORE);
    }

    @Test
    void only_computing_libraries_are_used() {
        classes()
                .should()
                .onlyDependOnClassesThat(DescribedPredicate.describe("only compute", ArchitectureTest::computes))
                .allowEmptyShould(true)
                .check(CORE);
    }

    @Test
    void neither_clock_nor_chance_nor_environment_is_asked() {
        noClasses()
                .should()
                .callCodeUnitWhere(DescribedPredicate.describe("asks the world", ArchitectureTest::asksTheWorld))
                .allowEmptyShould(true)
                .check(CORE);
    }

    @Test
    void nothing_is_shared_between_threads() {
        fields().should()
                .notHaveModifier(JavaModifier.VOLATILE)
                .allowEmptyShould(true)
                .check(CORE);
        methods()
                .should()
                .notHaveModifier(JavaModifier.SYNCHRONIZED)
                .allowEmptyShould(true)
                .check(CORE);
    }

    private static boolean computes(JavaClass type) {
        JavaClass element = type.getBaseComponentType();
        if (element.isPrimitive() || element.getPackageName().startsWith("sluice.core")) {
            return true;
        }
        String name = element.getName();
        if (OUTSIDE_WORLD.contains(name)) {
            return false;
        }
        return PACKAGES.contains(element.getPackageName()) || STREAMS_WITHOUT_FILES.contains(name);
    }

    private static boolean asksTheWorld(JavaCall<?> call) {
        CodeUnitCallTarget target = call.getTarget();
        String owner = target.getOwner().getName();
        return switch (target.getName()) {
            case "now" -> owner.startsWith("java.time.");
            case "randomUUID" -> owner.equals("java.util.UUID");
            case "random" -> owner.equals("java.lang.Math") || owner.equals("java.lang.StrictMath");
            case "shuffle" -> owner.equals("java.util.Collections");
            case "systemDefault" -> owner.equals("java.time.ZoneId");
            case "getDefault" -> owner.equals("java.util.TimeZone") || owner.equals("java.util.Locale");
            case "parallel", "parallelStream" -> owner.startsWith("java.util.");
            case "arraycopy" -> false;
            case "lineSeparator" -> true;
            default -> owner.equals("java.lang.System");
        };
    }
}
