/// The environment, read once into records. The only place that looks at environment variables; everything else is
/// handed the values it needs.
@NullMarked
package sluice.server.config;

import org.jspecify.annotations.NullMarked;
