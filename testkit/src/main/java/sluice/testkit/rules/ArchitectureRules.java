package sluice.testkit.rules;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/// Rules about class files that hold in every module.
public final class ArchitectureRules {
    private ArchitectureRules() {}

    /// All main classes at or below a package.
    public static JavaClasses mainClasses(String rootPackage) {
        return new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages(rootPackage);
    }

    /// Such a name says that nobody knew what the class is.
    public static ArchRule names() {
        return classes()
                .should()
                .haveNameNotMatching(".*(Util|Utils|Helper|Helpers|Manager|Impl|Info)")
                .as("no class is called Util, Helper, Manager, Impl or Info")
                .allowEmptyShould(true);
    }

    /// State belongs to an object that somebody owns. A private array is taken for a lookup table.
    public static ArchRule noMutableStatics() {
        return fields().that()
                .areStatic()
                .should(new ArchCondition<JavaField>("be final and of a type that cannot change") {
                    @Override
                    public void check(JavaField field, ConditionEvents events) {
                        if (field.getModifiers().contains(JavaModifier.SYNTHETIC)) {
                            return;
                        }
                        if (isMutable(field)) {
                            events.add(SimpleConditionEvent.violated(field, field.getFullName() + " can change"));
                        }
                    }
                })
                .allowEmptyShould(true);
    }

    private static boolean isMutable(JavaField field) {
        if (!field.getModifiers().contains(JavaModifier.FINAL)) {
            return true;
        }
        JavaClass type = field.getRawType();
        if (type.isArray()) {
            return !field.getModifiers().contains(JavaModifier.PRIVATE);
        }
        return type.getPackageName().equals(AtomicReference.class.getPackageName())
                || type.isEquivalentTo(StringBuilder.class)
                || type.isAssignableTo(ThreadLocal.class)
                || concrete(type, Map.class)
                || concrete(type, Collection.class);
    }

    private static boolean concrete(JavaClass type, Class<?> collection) {
        return !type.isInterface() && type.isAssignableTo(collection);
    }

    /// Each class may use its own package and those before it.
    ///
    /// @param upstreamFirst names right below the root; each stands for itself and all below it
    public static ArchRule packageOrder(String rootPackage, List<String> upstreamFirst) {
        return classes()
                .that()
                .doNotHaveSimpleName("package-info")
                .should(new ArchCondition<JavaClass>("depend only on their own and on earlier packages") {
                    @Override
                    public void check(JavaClass origin, ConditionEvents events) {
                        int own = position(rootPackage, upstreamFirst, origin);
                        if (own < 0) {
                            String message = origin.getName() + " is in a package that has no place in the order";
                            events.add(SimpleConditionEvent.violated(origin, message));
                            return;
                        }
                        for (Dependency dependency : origin.getDirectDependenciesFromSelf()) {
                            if (position(rootPackage, upstreamFirst, dependency.getTargetClass()) > own) {
                                events.add(SimpleConditionEvent.violated(origin, dependency.getDescription()));
                            }
                        }
                    }
                })
                .allowEmptyShould(true);
    }

    private static int position(String rootPackage, List<String> upstreamFirst, JavaClass type) {
        String name = type.getBaseComponentType().getPackageName();
        if (!name.startsWith(rootPackage + ".")) {
            return -1;
        }
        String stage = name.substring(rootPackage.length() + 1).split("\\.", 2)[0];
        return upstreamFirst.indexOf(stage);
    }

    /// Only the given packages may use the given libraries. Both lists in ArchUnit's notation: `io.netty..`.
    public static ArchRule onlyIn(List<String> packages, String... libraries) {
        return noClasses()
                .that()
                .resideOutsideOfPackages(packages.toArray(String[]::new))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(libraries)
                .allowEmptyShould(true);
    }
}
