package sluice.testkit.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import org.junit.jupiter.api.Test;

class ArchitectureRulesTest {
    private static final String FIXTURE = "sluice.testkit.rules.fixture";
    private static final JavaClasses CLASSES = new ClassFileImporter().importPackages(FIXTURE);

    @Test
    void looking_downstream_is_found_and_looking_upstream_is_not() {
        assertThat(violations(ArchitectureRules.packageOrder(FIXTURE, List.of("first", "second"))))
                .isNotEmpty()
                .allMatch(violation -> violation.contains("LooksDownstream"));
    }

    @Test
    void a_package_without_a_place_in_the_order_is_found() {
        assertThat(violations(ArchitectureRules.packageOrder(FIXTURE, List.of("first"))))
                .anyMatch(violation -> violation.contains("Downstream is in a package that has no place"));
    }

    @Test
    void a_name_that_says_nothing_is_found() {
        assertThat(violations(ArchitectureRules.names()))
                .singleElement()
                .asString()
                .contains("ThingManager");
    }

    @Test
    void statics_that_can_change_are_found_and_lookup_tables_are_not() {
        assertThat(violations(ArchitectureRules.noMutableStatics()))
                .hasSize(2)
                .anyMatch(violation -> violation.contains("LIST"))
                .anyMatch(violation -> violation.contains("COUNT"));
    }

    @Test
    void a_library_outside_its_packages_is_found() {
        List<String> first = List.of(FIXTURE + ".first..");
        assertThat(violations(ArchitectureRules.onlyIn(first, "java.util.concurrent..")))
                .isNotEmpty()
                .allMatch(violation -> violation.contains("KeepsState"));
        List<String> second = List.of(FIXTURE + ".second..");
        assertThat(violations(ArchitectureRules.onlyIn(second, "java.util.concurrent..")))
                .isEmpty();
    }

    private static List<String> violations(ArchRule rule) {
        return rule.evaluate(CLASSES).getFailureReport().getDetails();
    }
}
