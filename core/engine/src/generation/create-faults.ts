/**
 * Findings of the plugins' `create`, without tests of guardrails: all plugins are created, none is
 * started, and all are closed.
 */

import type { Finding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";
import { compilePipelines } from "../pipeline/compile.ts";
import { buildFindings } from "./build-error.ts";
import { createGenerationParts } from "./create-parts.ts";
import type { ProcessParts } from "./parts.ts";
import { ClosingScope } from "./scope.ts";

/**
 * Makes the providers and steps of a snapshot, and gives what is wrong, at the place that names the
 * plugin. `create` does no I/O, and neither does this function. Never rejects.
 */
export async function createFaults(
  process: ProcessParts,
  snapshot: Snapshot,
): Promise<readonly Finding[]> {
  const scope = new ClosingScope(process.log);
  try {
    const { providers, hostFor } = createGenerationParts(process, { number: 0, snapshot, scope });
    providers.names();
    compilePipelines(snapshot, process.definitions.steps, ({ use }) => hostFor(use));
    return [];
  } catch (error) {
    return buildFindings(snapshot, error);
  } finally {
    await scope.close();
  }
}
