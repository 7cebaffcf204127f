/** What only a plugin's `create` finds, where no guardrail is to be tested: all are made, none is started, and all are closed again. */

import type { DependencyContainer } from "tsyringe";
import type { Log } from "@sluice/spec";
import type { Finding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";
import { compilePipelines } from "../pipeline/compile.ts";
import type { Definitions } from "../registry/definitions.ts";
import { buildFindings } from "./build-error.ts";
import { createGenerationContainer } from "./container.ts";
import type { HostFactory } from "./host.ts";
import { ClosingScope } from "./scope.ts";
import { GENERATION, PROCESS } from "./tokens.ts";

/**
 * Makes the providers and steps of a snapshot, and gives what is wrong, at the place that names the plugin. `create` asks
 * nobody, so this does neither. Never rejects.
 */
export async function createFaults(parent: DependencyContainer, snapshot: Snapshot): Promise<readonly Finding[]> {
  const scope = new ClosingScope(parent.resolve<Log>(PROCESS.log));
  try {
    const container = createGenerationContainer(parent, { number: 0, snapshot, scope });
    container.resolve(GENERATION.providers);
    const hostFor = container.resolve<HostFactory>(GENERATION.hostFor);
    const { steps } = container.resolve<Definitions>(PROCESS.definitions);
    compilePipelines(snapshot, steps, ({ use }) => hostFor(use));
    return [];
  } catch (error) {
    return buildFindings(snapshot, error);
  } finally {
    await scope.close();
  }
}
