/// Policy and filter expressions: reading PostgreSQL's analysed trees, folding what the row does not touch, deciding
/// rows with four answers.
@NullMarked
package sluice.core.expression;

import org.jspecify.annotations.NullMarked;
