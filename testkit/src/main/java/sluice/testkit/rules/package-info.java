/// The build's own rules: what a compiler does not check and a reviewer should not have to.
///
/// [sluice.testkit.rules.ArchitectureRules] read class files, [sluice.testkit.rules.Tidy] reads sources. Each module
/// runs both over itself, so a rule fails where the fault is.
@NullMarked
package sluice.testkit.rules;

import org.jspecify.annotations.NullMarked;
