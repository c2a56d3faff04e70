package sluice.server;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitCallTarget;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import sluice.testkit.rules.ArchitectureRules;

class ArchitectureTest {
    private static final JavaClasses SERVER = ArchitectureRules.mainClasses("sluice.server");

    @Test
    void packages_have_no_cycles() {
        slices().matching("sluice.server.(*)..")
                .should()
                .beFreeOfCycles()
                .allowEmptyShould(true)
                .check(SERVER);
    }

    @Test
    void netty_stays_behind_http_and_cluster() {
        ArchitectureRules.onlyIn(List.of("sluice.server.http..", "sluice.server.cluster.."), "io.netty..")
                .check(SERVER);
    }

    @Test
    void the_database_stays_behind_postgres() {
        ArchitectureRules.onlyIn(
                        List.of("sluice.server.postgres.."),
                        "java.sql..",
                        "javax.sql..",
                        "org.postgresql..",
                        "com.zaxxer..")
                .check(SERVER);
    }

    @Test
    void the_environment_is_read_in_config_only() {
        noClasses()
                .that()
                .resideOutsideOfPackage("sluice.server.config..")
                .should()
                .callMethodWhere(DescribedPredicate.describe(
                        "read the environment",
                        call -> call.getTarget().getName().equals("getenv")))
                .allowEmptyShould(true)
                .check(SERVER);
    }

    @Test
    void threads_start_in_runtime_and_app_only() {
        noClasses()
                .that()
                .resideOutsideOfPackages("sluice.server.runtime..", "sluice.server.app..")
                .should()
                .callCodeUnitWhere(DescribedPredicate.describe("make a thread", ArchitectureTest::makesThread))
                .allowEmptyShould(true)
                .check(SERVER);
    }

    @Test
    void names_say_what_a_class_is() {
        ArchitectureRules.names().check(SERVER);
    }

    @Test
    void statics_never_change() {
        ArchitectureRules.noMutableStatics().check(SERVER);
    }

    private static boolean makesThread(JavaCall<?> call) {
        CodeUnitCallTarget target = call.getTarget();
        if (target.getOwner().getPackageName().startsWith("io.netty.")) {
            // event loops are made beside their sockets, with threads that whoever starts the server hands in
            return false;
        }
        String name = target.getName();
        if (target.getOwner().isEquivalentTo(Thread.class)) {
            return name.equals("<init>") || name.startsWith("of") || name.equals("startVirtualThread");
        }
        if (target.getOwner().isEquivalentTo(CompletableFuture.class)) {
            return name.equals("runAsync") || name.equals("supplyAsync");
        }
        return target.getOwner().isEquivalentTo(Executors.class)
                || (name.equals("<init>") && target.getOwner().isAssignableTo(ExecutorService.class));
    }
}
