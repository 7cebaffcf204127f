/** The manager: one live generation, a swap by one assignment, and older ones that drain. */

import type { DependencyContainer } from "tsyringe";
import type { Clock, Log } from "@sluice/spec";
import { type Finding, formatFinding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";
import { placeOf } from "../pipeline/blame.ts";
import { checkPipelines } from "../pipeline/compile.ts";
import type { Definitions } from "../registry/definitions.ts";
import { buildGeneration, type Generation } from "./generation.ts";
import { BuildError } from "./guardrails.ts";
import { coldChanges } from "./cold.ts";
import { isForced, shrinkage } from "./shrink.ts";
import { PROCESS } from "./tokens.ts";

/** How an attempt to apply a configuration ended. */
export type ApplyOutcome = "applied" | "unchanged" | "refused" | "superseded";

/** An attempt to apply a configuration. */
export interface ApplyResult {
  readonly outcome: ApplyOutcome;
  readonly atMs: number;
  /** The candidate's digest, `undefined` when it could not be read. */
  readonly digest: string | undefined;
  /** The generation that the attempt made, or found running with the same contents; else `undefined`. */
  readonly generation: number | undefined;
  readonly findings: readonly Finding[];
}

/** What `GET /config/status` tells. */
export interface ManagerStatus {
  readonly live: Generation | undefined;
  readonly draining: readonly Generation[];
  readonly lastAttempt: ApplyResult | undefined;
  /** How often attempts of this process ended in each way. */
  readonly outcomes: Readonly<Record<ApplyOutcome, number>>;
}

/** A log line says this many findings; all of them are on the status page. */
const MAX_LOGGED_FINDINGS = 20;

/**
 * Old generations that drain at the same time. A candidate that finds so many waits until one of them has closed, at the latest
 * at its drain deadline: what is under way is not cut for the sake of an edit, and edits cannot pile up without end.
 */
const MAX_DRAINING = 8;

/** How a snapshot is applied. */
export interface ApplyOptions {
  /** The candidate's digest: what it takes away is meant. */
  readonly force?: string | undefined;
}

interface Waiting {
  readonly snapshot: Snapshot;
  readonly options: ApplyOptions;
  readonly resolve: (result: ApplyResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Applies snapshots, one at a time; of those that wait, the newest wins. */
export class GenerationManager {
  readonly #container: DependencyContainer;
  readonly #definitions: Definitions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #draining = new Map<Generation, Promise<void>>();
  #live: Generation | undefined;
  #lastNumber = 0;
  readonly #numberOf: (digest: string, last: number) => number;
  #lastAttempt: ApplyResult | undefined;
  readonly #outcomes: Record<ApplyOutcome, number> = { applied: 0, unchanged: 0, refused: 0, superseded: 0 };
  #waiting: Waiting | undefined;
  #isApplying = false;
  #isClosed = false;
  /** Ends a wait for room: a newer candidate came, or the manager closes. */
  #onNews: (() => void) | undefined;

  /**
   * `lastNumber` is that of the newest generation before this process. `numberOf` numbers a candidate where several workers must
   * agree, by its digest and the last number here.
   */
  constructor(container: DependencyContainer, lastNumber = 0, numberOf?: (digest: string, last: number) => number) {
    this.#numberOf = numberOf ?? ((_digest, last) => last + 1);
    this.#lastNumber = lastNumber;
    this.#container = container;
    this.#definitions = container.resolve(PROCESS.definitions);
    this.#clock = container.resolve(PROCESS.clock);
    this.#log = container.resolve(PROCESS.log);
  }

  /** The generation that new exchanges lease; `undefined` before the first one and after `close`. */
  get live(): Generation | undefined {
    return this.#live;
  }

  get status(): ManagerStatus {
    return { live: this.#live, draining: [...this.#draining.keys()], lastAttempt: this.#lastAttempt, outcomes: this.#outcomes };
  }

  /** Applies a snapshot. Whatever fails before the swap changes nothing. */
  apply(snapshot: Snapshot, options: ApplyOptions = {}): Promise<ApplyResult> {
    return new Promise((resolve, reject) => {
      this.#waiting?.resolve(this.#result("superseded", this.#waiting.snapshot.digest, []));
      this.#waiting = { snapshot, options, resolve, reject };
      this.#onNews?.();
      if (!this.#isApplying) void this.#work();
    });
  }

  /** Records a candidate that could not even become a snapshot. */
  refuse(findings: readonly Finding[]): ApplyResult {
    return this.#finish(this.#result("refused", undefined, findings));
  }

  /** What applying a snapshot would find before anything is made. Changes nothing. */
  review(snapshot: Snapshot, { force }: ApplyOptions = {}): Finding[] {
    const order = checkPipelines(snapshot.pipelines, this.#definitions.steps, snapshot.guardrails);
    if (this.#live === undefined) return order;
    const { snapshot: live } = this.#live;
    const shrunk = isForced(snapshot, force) ? [] : shrinkage(live, snapshot, this.#definitions.steps);
    return [...coldChanges(live, snapshot), ...order, ...shrunk];
  }

  /** Stops handing out generations and waits for the leases, up to the deadline. */
  async close(deadlineMs: number): Promise<void> {
    const live = this.#live;
    this.#live = undefined;
    this.#isClosed = true;
    this.#onNews?.();
    if (live !== undefined) this.#drain(live, deadlineMs);
    await Promise.all(this.#draining.values());
  }

  async #work(): Promise<void> {
    this.#isApplying = true;
    for (let job = this.#waiting; job !== undefined; job = this.#waiting) {
      this.#waiting = undefined;
      try {
        job.resolve(this.#finish(await this.#attempt(job)));
      } catch (error) {
        job.reject(error);
      }
    }
    this.#isApplying = false;
  }

  async #attempt({ snapshot, options }: Waiting): Promise<ApplyResult> {
    const { digest } = snapshot;
    if (this.#live?.snapshot.digest === digest)
      return { ...this.#result("unchanged", digest, []), generation: this.#live.number };
    const findings = this.review(snapshot, options);
    if (findings.length > 0) return this.#result("refused", digest, findings);
    if (!(await this.#hasRoom())) return this.#result("superseded", digest, []);
    let next: Generation;
    try {
      next = await buildGeneration(this.#container, snapshot, this.#numberOf(digest, this.#lastNumber));
    } catch (error) {
      const found = error instanceof BuildError ? error.findings : [buildFinding(snapshot, error)];
      return this.#result("refused", digest, found);
    }
    const previous = this.#live;
    this.#lastNumber = next.number;
    this.#live = next;
    if (previous !== undefined) this.#drain(previous, snapshot.server.drainTimeoutMs);
    return { ...this.#result("applied", digest, []), generation: next.number };
  }

  /** Waits until another generation may live. Resolves with false when a newer candidate came or the manager closed. */
  async #hasRoom(): Promise<boolean> {
    if (this.#draining.size >= MAX_DRAINING) {
      this.#log.warn("an edit waits until one of the old generations has drained", { draining: this.#draining.size });
    }
    while (this.#draining.size >= MAX_DRAINING && this.#waiting === undefined && !this.#isClosed) {
      const news = new Promise<void>((resolve) => (this.#onNews = resolve));
      await Promise.race([news, ...this.#draining.values()]);
      this.#onNews = undefined;
    }
    return this.#waiting === undefined && !this.#isClosed;
  }

  #drain(generation: Generation, deadlineMs: number): void {
    const drained = generation.drain(deadlineMs).then(() => {
      this.#draining.delete(generation);
      this.#log.info("generation closed", { generation: generation.number });
    });
    this.#draining.set(generation, drained);
  }

  #result(outcome: ApplyOutcome, digest: string | undefined, findings: readonly Finding[]): ApplyResult {
    return { outcome, atMs: this.#clock.now(), digest, generation: undefined, findings };
  }

  #finish(result: ApplyResult): ApplyResult {
    this.#lastAttempt = result;
    const { outcome, digest, findings } = result;
    this.#outcomes[outcome]++;
    const fields = {
      outcome,
      digest: digest?.slice(0, 12),
      generation: this.#live?.number,
      findings: findings.slice(0, MAX_LOGGED_FINDINGS).map(formatFinding),
    };
    if (outcome === "refused") this.#log.warn("configuration refused", fields);
    else this.#log.info(`configuration ${outcome}`, fields);
    return result;
  }
}

function buildFinding(snapshot: Snapshot, error: unknown): Finding {
  const said = error instanceof Error ? error.message : String(error);
  const at = placeOf(error) ?? { file: snapshot.files[0]?.end.file ?? "", line: 1, column: 1 };
  return {
    at,
    message: `A plugin could not be made: ${said}`,
    fix: "Correct the plugin or its options.",
  };
}
