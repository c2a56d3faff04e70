/// The API files, `docs/asyncapi.yaml` and `docs/openapi.yaml`, as tests hold the server and the pages against them.
@NullMarked
package sluice.server.wire;

import org.jspecify.annotations.NullMarked;
