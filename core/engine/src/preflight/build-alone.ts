/** Builds a configuration without a gateway, for a command. */

import { randomUUID } from "node:crypto";
import type { Log } from "@sluice/contract";
import type { Finding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";
import { createFaults } from "../generation/create-faults.ts";
import { buildGeneration, type Generation } from "../generation/generation.ts";
import type { Definitions } from "../registry/definitions.ts";
import { SharedPool } from "../resources/shared-pool.ts";
import { processOf } from "./own-parts.ts";

/**
 * Builds a generation without a gateway, for a command. Its guardrails have started and checked
 * their samples. Rejects with a BuildError, or with the error of a plugin.
 */
export function buildAlone(
  snapshot: Snapshot,
  definitions: Definitions,
  log: Log,
): Promise<Generation> {
  const parts = { definitions, log, shared: new SharedPool(), rows: [], masterKey: randomUUID() };
  return buildGeneration(processOf(parts), snapshot, 0);
}

/**
 * The findings of the plugins' `create`, without a gateway. No plugin is started. Never rejects.
 */
export function createFaultsAlone(
  snapshot: Snapshot,
  definitions: Definitions,
  log: Log,
): Promise<readonly Finding[]> {
  const parts = { definitions, log, shared: new SharedPool(), rows: [], masterKey: randomUUID() };
  return createFaults(processOf(parts), snapshot);
}
