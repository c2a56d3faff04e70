/// One command that shows everything: an embedded PostgreSQL, roles, tables under row-level
/// security, tokens, the server
/// and a page. Nothing here is reachable from `serve`.
@NullMarked
package sluice.server.demo;

import org.jspecify.annotations.NullMarked;
