/** The snapshot that tests use. It does not depend on the machine that runs them. */

import type { Snapshot } from "../config/snapshot.ts";
import type { Definitions } from "../registry/definitions.ts";
import { withPlaceholders } from "../registry/placeholders.ts";
import { TEST_PROVIDER } from "./providers.ts";

/** Adds placeholders for missing provider options, and the provider of the tests. */
export function sandboxSnapshot(snapshot: Snapshot, definitions: Definitions): Snapshot {
  const providers = snapshot.providers.map((provider) => withPlaceholders(provider, definitions));
  const at = { file: snapshot.files[0]?.end.file ?? "", line: 1, column: 1 };
  const timeouts = { connectMs: 0, firstByteMs: 0, idleMs: 0 };
  const own = {
    name: TEST_PROVIDER,
    use: TEST_PROVIDER,
    options: {},
    at,
    missing: [],
    timeouts,
    connections: 1,
  };
  // The tests are about pipelines.
  return { ...snapshot, providers: [...providers, own], extensions: [] };
}
