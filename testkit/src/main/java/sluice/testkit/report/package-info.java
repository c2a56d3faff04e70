/// What a test run says about itself.
@NullMarked
package sluice.testkit.report;

import org.jspecify.annotations.NullMarked;
