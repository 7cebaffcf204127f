/** Rollouts of files that operators ask for, at any instance of the fleet. */

import type { Finding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";
import type { ApplyResult } from "../generation/rollout/apply.ts";
import type { CanaryPlan } from "../generation/rollout/canary/canary.ts";
import type { ConfigEdits } from "../generation/rollout/edits.ts";
import type { GenerationManager } from "../generation/manager.ts";
import type { Rollouts } from "./begin.ts";
import { storedPlan } from "./canary/plan.ts";

/** What the commands need. */
export interface FleetCommandParts {
  readonly rollouts: Rollouts;
  readonly edits: Pick<ConfigEdits, "overlaid" | "reload" | "review">;
  readonly manager: Pick<GenerationManager, "status" | "refuse">;
  /** Findings of the tests of contents that are not applied yet. */
  readonly test: (snapshot: Snapshot) => Promise<readonly Finding[]>;
}

/** A reload of all instances. */
export interface FleetReload {
  readonly force: string | undefined;
  readonly author: string | undefined;
  readonly canary: CanaryPlan | undefined;
  /** How long instances look for the same files. */
  readonly waitMs: number;
}

/** The result at this instance, and the rollout that the others follow; `undefined` without one. */
export interface FleetResult {
  readonly result: ApplyResult;
  readonly rollout: number | undefined;
}

/** Reloads of the fleet. */
export class FleetCommands {
  readonly #parts: FleetCommandParts;

  constructor(parts: FleetCommandParts) {
    this.#parts = parts;
  }

  /**
   * Applies the files of this instance here, and the same files at every other one. Throws
   * `config_conflict` when another rollout begins at the same moment, and `overloaded` while the
   * store does not answer.
   */
  async reload(asked: FleetReload): Promise<FleetResult> {
    if (asked.canary !== undefined) return this.#beginCanary(asked, asked.canary);
    const { edits, manager, rollouts } = this.#parts;
    // Before the edit: an instance alone must not be ahead of the others.
    const { record } = await rollouts.newest();
    const result = await edits.reload(asked.force, undefined, asked.author);
    const contents = manager.status.live?.snapshot.contents;
    if (result.outcome === "refused" || result.contents !== contents || contents === undefined)
      return { result, rollout: undefined };
    const rollout = await rollouts.begin(draftOf(asked, contents, null), record?.id ?? 0);
    return { result, rollout };
  }

  /** The files are checked and tested here before any instance begins. */
  async #beginCanary(asked: FleetReload, plan: CanaryPlan): Promise<FleetResult> {
    const { edits, manager, rollouts, test } = this.#parts;
    const { record } = await rollouts.newest();
    const review = edits.review(edits.overlaid({}), asked.force);
    const { findings, snapshot, isUnchanged, digest, contents } = review;
    const tested = findings.length > 0 || snapshot === undefined ? [] : await test(snapshot);
    const all = [...findings, ...tested];
    if (all.length > 0 || snapshot === undefined)
      return { result: manager.refuse(all, contents), rollout: undefined };
    const common = { atMs: Date.now(), digest, contents, findings: [] };
    if (isUnchanged) {
      const generation = manager.status.live?.number;
      return { result: { ...common, outcome: "unchanged", generation }, rollout: undefined };
    }
    const draft = draftOf(asked, snapshot.contents, plan);
    const rollout = await rollouts.begin(draft, record?.id ?? 0);
    return { result: await rollouts.canaryResult(rollout, common), rollout };
  }
}

function draftOf(asked: FleetReload, contents: string, plan: CanaryPlan | null) {
  return {
    kind: "reload",
    contents,
    files: null,
    contentsOf: null,
    base: null,
    plan: plan === null ? null : storedPlan(plan),
    isForced: asked.force !== undefined,
    author: asked.author ?? null,
    reason: null,
    effects: [],
    endsAfterMs: plan?.forMs ?? asked.waitMs,
  } as const;
}
