/** Rollouts that operators ask for, at any instance of the fleet. */

import { GatewayError, type RolloutDraft, type RolloutStore } from "@sluice/contract";
import type { Finding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";
import type { ApplyResult } from "../generation/rollout/apply.ts";
import type { CanaryEnd, CanaryPlan } from "../generation/rollout/canary/canary.ts";
import type { ConfigEdits } from "../generation/rollout/edits.ts";
import type { GenerationManager } from "../generation/manager.ts";
import { storedPlan } from "./plan.ts";
import type { RolloutMember } from "./rollout-member.ts";

/** What the commands need. */
export interface FleetCommandParts {
  readonly rollouts: RolloutStore;
  readonly member: RolloutMember;
  readonly edits: Pick<ConfigEdits, "reload" | "review">;
  readonly manager: Pick<GenerationManager, "status" | "refuse">;
  /** The instance that is asked. */
  readonly instance: string;
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

/** Rollouts that are kept, and whose reports are. */
const KEPT = 100;

/** Begins and ends rollouts. */
export class FleetCommands {
  readonly #parts: FleetCommandParts;

  constructor(parts: FleetCommandParts) {
    this.#parts = parts;
  }

  /**
   * Applies the files of this instance here, and the same files at every other one. Throws
   * `config_conflict` when another rollout begins at the same moment.
   */
  async reload(asked: FleetReload): Promise<FleetResult> {
    if (asked.canary !== undefined) return this.#beginCanary(asked, asked.canary);
    const { edits, manager, member } = this.#parts;
    const result = await edits.reload(asked.force, undefined, asked.author);
    const contents = manager.status.live?.snapshot.contents;
    if (result.outcome === "refused" || result.contents !== contents || contents === undefined)
      return { result, rollout: undefined };
    const rollout = await this.#begin(asked, contents, null);
    await member.look();
    return { result, rollout };
  }

  /** Ends the canary of the fleet. `undefined`: none runs here. */
  async endCanary(end: CanaryEnd, author = "the operator"): Promise<ApplyResult | undefined> {
    const { rollouts, member, manager } = this.#parts;
    const { canary } = member;
    const { record } = await rollouts.newest("files");
    if (canary === undefined || record?.stage !== "canary") return undefined;
    await rollouts.decide("files", record.id, end, `${author} said so`);
    await member.look();
    return manager.status.lastAttempt;
  }

  /** The files are checked and tested here before any instance begins. */
  async #beginCanary(asked: FleetReload, plan: CanaryPlan): Promise<FleetResult> {
    const { edits, manager, member, test } = this.#parts;
    const { findings, snapshot, isUnchanged, digest, contents } = edits.review({}, asked.force);
    const tested = findings.length > 0 || snapshot === undefined ? [] : await test(snapshot);
    const all = [...findings, ...tested];
    if (all.length > 0 || snapshot === undefined)
      return { result: manager.refuse(all, contents), rollout: undefined };
    const atMs = Date.now();
    const common = { atMs, digest, contents, findings: [] };
    if (isUnchanged) {
      const generation = manager.status.live?.number;
      return { result: { ...common, outcome: "unchanged", generation }, rollout: undefined };
    }
    const rollout = await this.#begin(asked, snapshot.contents, plan);
    await member.look();
    const { canary } = member;
    if (canary !== undefined)
      return {
        result: { ...common, outcome: "canary", generation: canary.generation.number },
        rollout,
      };
    // What was found while it was made ends it everywhere.
    const reason = `${member.progress.reasons[0] ?? "it could not begin"} (at the instance that was asked)`;
    await this.#parts.rollouts.decide("files", rollout, "returned", reason);
    const last = manager.status.lastAttempt;
    return { result: last ?? { ...common, outcome: "refused", generation: undefined }, rollout };
  }

  async #begin(asked: FleetReload, contents: string, plan: CanaryPlan | null): Promise<number> {
    const { rollouts, instance } = this.#parts;
    const draft: RolloutDraft = {
      source: "files",
      kind: "reload",
      contents,
      files: null,
      contentsOf: null,
      base: null,
      plan: plan === null ? null : storedPlan(plan),
      isForced: asked.force !== undefined,
      author: asked.author ?? null,
      instance,
      effects: [],
      endsAfterMs: plan?.forMs ?? asked.waitMs,
    };
    const { record } = await rollouts.newest("files");
    const id = await rollouts.begin(draft, record?.id ?? 0);
    if (id === undefined) throw conflict("Another rollout began at the same moment.");
    await rollouts.prune("files", KEPT).catch(() => undefined);
    return id;
  }
}

/** The refusal of an edit that came second. */
export function conflict(what: string): GatewayError {
  return new GatewayError("config_conflict", `${what} sluice status --fleet shows it.`);
}
