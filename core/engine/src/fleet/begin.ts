/** Begins and ends rollouts in the store: of several callers at once, one. */

import {
  GatewayError,
  type NewestRollout,
  type RolloutDraft,
  type RolloutRecord,
  type RolloutReport,
  type RolloutSource,
  type RolloutStore,
} from "@sluice/contract";
import type { ApplyResult } from "../generation/rollout/apply.ts";
import type { CanaryEnd } from "../generation/rollout/canary/canary.ts";
import type { GenerationManager } from "../generation/manager.ts";
import type { RolloutMember } from "./rollout-member.ts";

/** What rollouts are begun with. */
export interface BeginParts {
  readonly rollouts: RolloutStore;
  readonly source: RolloutSource;
  readonly member: RolloutMember;
  readonly manager: Pick<GenerationManager, "status">;
  /** The instance that is asked. */
  readonly instance: string;
}

/** A rollout, and what the processes reported about it. */
export interface RolloutHistory {
  readonly record: RolloutRecord;
  readonly reports: readonly RolloutReport[];
}

/** A rollout as a command describes it. */
export type Draft = Omit<RolloutDraft, "source" | "instance">;

/** Rollouts that are kept, and whose reports are. */
const KEPT = 100;

/** The rollouts of one source. */
export class Rollouts {
  readonly #parts: BeginParts;

  constructor(parts: BeginParts) {
    this.#parts = parts;
  }

  /** The newest rollout. Throws `overloaded` while the store does not answer. */
  newest(): Promise<NewestRollout> {
    const { rollouts, source } = this.#parts;
    return answered(rollouts.newest(source), "nothing has begun");
  }

  /**
   * Begins a rollout after another one, and brings this process to it. Returns its number. Throws
   * `config_conflict` when another one has begun meanwhile, and `overloaded` while the store does
   * not answer.
   */
  async begin(draft: Draft, after: number): Promise<number> {
    const { rollouts, source, instance, member } = this.#parts;
    const id = await answered(
      rollouts.begin({ ...draft, source, instance }, after),
      "no other instance follows",
    );
    if (id === undefined) throw conflict("Another rollout began at the same moment.");
    await rollouts.prune(source, KEPT).catch(() => undefined);
    await member.look();
    return id;
  }

  /** What became of a canary here; it ends everywhere where it could not begin here. */
  async canaryResult(id: number, common: Omit<ApplyResult, "outcome" | "generation">) {
    const { rollouts, source, member, manager } = this.#parts;
    const { canary } = member;
    if (canary !== undefined)
      return { ...common, outcome: "canary", generation: canary.generation.number } as const;
    const why = member.progress.reasons[0] ?? "it could not begin";
    await rollouts.decide(source, id, "returned", `${why} (at the instance that was asked)`);
    return (
      manager.status.lastAttempt ??
      ({ ...common, outcome: "refused", generation: undefined } as const)
    );
  }

  /** Ends the canary of the fleet. `undefined`: none runs here. */
  async endCanary(end: CanaryEnd, author = "the operator"): Promise<ApplyResult | undefined> {
    const { rollouts, source, member, manager } = this.#parts;
    if (member.canary === undefined) return undefined;
    const { record } = await this.newest();
    if (record?.stage === "canary")
      await answered(
        rollouts.decide(source, record.id, end, `${author} said so`),
        "the canary goes on",
      );
    await member.look();
    return manager.status.lastAttempt;
  }

  /** The newest rollouts, and what became of them. Throws `overloaded`. */
  async history(limit: number): Promise<readonly RolloutHistory[]> {
    const { rollouts, source } = this.#parts;
    const records = await answered(rollouts.list(source, limit), "its history is not known");
    return Promise.all(
      records.map(async (record) => ({
        record,
        reports: await answered(rollouts.reports(source, record.id), "its history is not known"),
      })),
    );
  }

  /** A rollout by its number. Throws `overloaded` while the store does not answer. */
  find(id: number): Promise<RolloutRecord | undefined> {
    const { rollouts, source } = this.#parts;
    return answered(rollouts.find(source, id), "nothing has begun");
  }
}

/** The refusal of an edit that came second. */
export function conflict(what: string): GatewayError {
  return new GatewayError("config_conflict", `${what} sluice status --fleet shows it.`);
}

/** What the store answers. Throws `overloaded` where it does not; `so` says what that means. */
export async function answered<T>(asked: Promise<T>, so: string): Promise<T> {
  try {
    return await asked;
  } catch (cause) {
    const message = `The store does not answer, and ${so}. Repeat it when the store answers.`;
    throw new GatewayError("overloaded", message, { retryAfterMs: 1_000, cause });
  }
}
