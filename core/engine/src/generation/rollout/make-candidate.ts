/**
 * Makes candidates: reviews the contents, waits for room, builds a generation and runs its tests.
 */

import type { Finding } from "../../config/finding.ts";
import { TimeSlices } from "../../config/files/slices.ts";
import type { Snapshot } from "../../config/snapshot.ts";
import { checkCandidate, resolvedAs } from "../../lint/check-candidate.ts";
import { buildFindings } from "../build-error.ts";
import { coldChanges } from "../cold.ts";
import { buildGeneration, type Generation } from "../generation.ts";
import type { ProcessParts } from "../parts.ts";
import {
  type ApplyOptions,
  MAX_DRAINING,
  type Preflight,
  type Tested,
  type Waiting,
} from "./apply.ts";
import type { Draining } from "./draining.ts";
import { isForced, shrinkage } from "./shrink-guard.ts";
import type { RolloutEvent } from "./state/model.ts";

/** What candidates are made with. */
export interface CandidateParts {
  readonly process: ProcessParts;
  readonly draining: Draining;
  /** Without it no tests of pipelines run. */
  readonly preflight: Preflight | undefined;
  /** The number of a new generation with these contents. */
  readonly numberOf: (digest: string) => number;
  readonly live: () => Generation | undefined;
  /** Whether a newer edit overtakes the candidate in the making, or the rollout has stopped. */
  readonly isOvertaken: () => boolean;
}

const SUPERSEDED = { type: "failed", outcome: "superseded", findings: [] } as const;

/** Makes one candidate at a time. */
export class CandidateMaker {
  readonly #parts: CandidateParts;
  /** Ends a wait for room, or the tests of a candidate. */
  #onOvertaken: (() => void) | undefined;

  constructor(parts: CandidateParts) {
    this.#parts = parts;
  }

  /** Findings of contents before anything is made. */
  review(snapshot: Snapshot, force: string | undefined): Finding[] {
    const { definitions } = this.#parts.process;
    const own = checkCandidate(resolvedAs(snapshot), definitions);
    const live = this.#parts.live()?.snapshot;
    if (live === undefined) return own;
    const shrunk = isForced(snapshot, force) ? [] : shrinkage(live, snapshot, definitions.steps);
    return [...coldChanges(live, snapshot), ...own, ...shrunk];
  }

  /**
   * Makes and tests a candidate. The result is an event of the rollout. Rejects when the tests
   * cannot run.
   */
  async make({ snapshot, options }: Waiting): Promise<RolloutEvent<Generation, Waiting>> {
    const { process, numberOf } = this.#parts;
    const findings = this.review(snapshot, options.force);
    if (findings.length > 0) return { type: "failed", outcome: "refused", findings };
    if (!(await this.#hasRoom())) return SUPERSEDED;
    const slices = new TimeSlices();
    await slices.pauseIfOver();
    let generation: Generation;
    try {
      generation = await buildGeneration(
        process,
        snapshot,
        options.number ?? numberOf(snapshot.digest),
      );
    } catch (error) {
      return { type: "failed", outcome: "refused", findings: buildFindings(snapshot, error) };
    }
    await slices.pauseIfOver();
    const { failures, isCut } = await this.#test(generation, options);
    if (failures.length === 0 && !isCut) return { type: "built", generation };
    await generation.drain(0);
    return failures.length > 0
      ? { type: "failed", outcome: "refused", findings: failures }
      : SUPERSEDED;
  }

  /** Ends the waits and the tests of the candidate in the making. */
  overtake(): void {
    this.#onOvertaken?.();
  }

  /** Findings of the candidate's own tests. */
  async #test(candidate: Generation, { hasServed = false }: ApplyOptions): Promise<Tested> {
    const { preflight, isOvertaken } = this.#parts;
    if (preflight === undefined || hasServed) return { failures: [], isCut: false };
    const controller = new AbortController();
    this.#onOvertaken = () => controller.abort();
    if (isOvertaken()) controller.abort();
    try {
      const failures = await preflight(candidate, controller.signal);
      return { failures, isCut: controller.signal.aborted };
    } catch (error) {
      await candidate.drain(0);
      throw error;
    } finally {
      this.#onOvertaken = undefined;
    }
  }

  /**
   * Waits until another generation may live. Resolves with false when the candidate was overtaken.
   */
  async #hasRoom(): Promise<boolean> {
    const { draining, isOvertaken, process } = this.#parts;
    if (draining.size >= MAX_DRAINING) {
      process.log.warn("an edit waits until one of the old generations has drained", {
        draining: draining.size,
      });
    }
    while (draining.size >= MAX_DRAINING && !isOvertaken()) {
      const overtaken = new Promise<void>((resolve) => (this.#onOvertaken = resolve));
      await Promise.race([overtaken, draining.next()]);
      this.#onOvertaken = undefined;
    }
    return !isOvertaken();
  }
}
