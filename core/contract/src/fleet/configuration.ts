/** The configuration of a fleet in its store. */

import type { RolloutRecord } from "./rollouts.ts";

/** The configuration that serves all keys. */
export interface StoredConfiguration {
  /** The rollout that has it, and the number of its generation at every instance. */
  readonly id: number;
  /** The digest of the file contents. */
  readonly contents: string;
  /** The files by their names: `gateway.yaml`, `pipelines/chat.yaml`. */
  readonly files: Readonly<Record<string, string>>;
}

/** The rollout whose contents serve all keys; `undefined` before the first. */
export function servingRollout(newest: RolloutRecord | undefined): number | undefined {
  if (newest === undefined) return undefined;
  const isServing = newest.stage === "all" || newest.stage === "promoted";
  return isServing ? newest.id : (newest.base ?? undefined);
}
