/// Who may see a row: composes policies as PostgreSQL does and assigns each rule its tier. Anything but a clear yes
/// withholds.
@NullMarked
package sluice.core.authorization;

import org.jspecify.annotations.NullMarked;
