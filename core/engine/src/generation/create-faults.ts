/** What only a plugin's `create` finds: every plugin is made, none is started, and all are closed again. */

import type { DependencyContainer } from "tsyringe";
import type { GuardrailCatalog, Log } from "@sluice/spec";
import type { Finding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";
import { compilePipelines } from "../pipeline/compile.ts";
import { streamFaults } from "../pipeline/guardrails.ts";
import type { Definitions } from "../registry/definitions.ts";
import { BuildError, buildFinding } from "./build-error.ts";
import { createGenerationContainer } from "./container.ts";
import type { HostFactory } from "./host.ts";
import { ClosingScope } from "./scope.ts";
import { GENERATION, PROCESS } from "./tokens.ts";

/**
 * Makes the providers, guardrails and steps of a snapshot, and gives what is wrong, at the place that names the plugin. `create` asks
 * nobody, so this does neither. Never rejects.
 */
export async function createFaults(parent: DependencyContainer, snapshot: Snapshot): Promise<readonly Finding[]> {
  const scope = new ClosingScope(parent.resolve<Log>(PROCESS.log));
  try {
    const container = createGenerationContainer(parent, { number: 0, snapshot, scope });
    container.resolve(GENERATION.providers);
    const guardrails = container.resolve<GuardrailCatalog>(GENERATION.guardrails);
    const hostFor = container.resolve<HostFactory>(GENERATION.hostFor);
    const { steps } = container.resolve<Definitions>(PROCESS.definitions);
    compilePipelines(snapshot, steps, ({ use }) => hostFor(use));
    // In a thread of its own a guardrail says its reach when it has started.
    const isInline = (name: string): boolean => guardrails.find(name)?.settings.isolation === "inline";
    const known = { ...guardrails, find: (name: string) => (isInline(name) ? guardrails.find(name) : undefined) };
    return streamFaults(snapshot.pipelines, steps, known);
  } catch (error) {
    return error instanceof BuildError ? error.findings : [buildFinding(snapshot, error)];
  } finally {
    await scope.close();
  }
}
