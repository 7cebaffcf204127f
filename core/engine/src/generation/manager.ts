/** The manager: one live generation, a swap by one assignment, and older ones that drain. */

import type { DependencyContainer } from "tsyringe";
import type { Clock, Log } from "@sluice/spec";
import type { Finding } from "../config/finding.ts";
import { Turns } from "../config/pieces.ts";
import type { Snapshot } from "../config/snapshot.ts";
import { policyFindings } from "../lint/lint.ts";
import { checkPipelines } from "../pipeline/compile.ts";
import type { Definitions } from "../registry/definitions.ts";
import {
  type ApplyOptions,
  type ApplyOutcome,
  type ApplyResult,
  logResult,
  MAX_DRAINING,
  noOutcomes,
  type ManagerOptions,
  type ManagerStatus,
  type Rehearse,
  type Tested,
  type Waiting,
} from "./apply.ts";
import { type Canary, type CanaryEnd, type CanaryVerdict, endOf, startCanary } from "./canary.ts";
import { buildGeneration, type Generation } from "./generation.ts";
import { buildFindings } from "./build-error.ts";
import { coldChanges } from "./cold.ts";
import { isForced, shrinkage } from "./shrink.ts";
import type { SwapWatch } from "./swap-watch.ts";
import { PROCESS } from "./tokens.ts";

/** Applies snapshots, one at a time; of those that wait, the newest wins. */
export class GenerationManager {
  readonly #container: DependencyContainer;
  readonly #definitions: Definitions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #rehearse: Rehearse | undefined;
  readonly #swaps: SwapWatch | undefined;
  readonly #draining = new Map<Generation, Promise<void>>();
  #live: Generation | undefined;
  #canary: Canary | undefined;
  /** Told of each canary that has ended. */
  onCanaryEnd: (result: ApplyResult) => void = () => undefined;
  #lastNumber = 0;
  readonly #numberOf: (digest: string, last: number) => number;
  readonly #onServe: ((generation: Generation) => void) | undefined;
  readonly #onVerdict: (verdict: CanaryVerdict) => void;
  #lastAttempt: ApplyResult | undefined;
  readonly #outcomes = noOutcomes();
  #waiting: Waiting | undefined;
  /** The digest of the candidate that is being applied. */
  #attempting: string | undefined;
  #isApplying = false;
  #isClosed = false;
  /** Ends a wait for room: a newer candidate came, or the manager closes. */
  #onNews: (() => void) | undefined;

  constructor(
    container: DependencyContainer,
    { lastNumber = 0, rehearse, swaps, numberOf, onVerdict, onServe }: ManagerOptions = {},
  ) {
    this.#rehearse = rehearse;
    this.#swaps = swaps;
    this.#onVerdict = onVerdict ?? ((verdict) => this.endCanary(...endOf([verdict])));
    this.#numberOf = numberOf ?? ((_digest, last) => last + 1);
    this.#onServe = onServe;
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
    return {
      live: this.#live,
      draining: [...this.#draining.keys()],
      canary: this.#canary,
      judged: this.#swaps?.judged,
      failing: this.#swaps?.failing ?? 0,
      lastAttempt: this.#lastAttempt,
      outcomes: this.#outcomes,
    };
  }

  /** Whether a candidate is being applied. */
  get isBusy(): boolean {
    return this.#isApplying;
  }

  /** The generation for whoever presents this: the live one, or the canary. Asked only where a canary may run. */
  generationFor(presented: () => string): Generation | undefined {
    const canary = this.#canary;
    return canary !== undefined && canary.has(presented()) ? canary.generation : this.#live;
  }

  /** Ends the canary: `promoted`, it serves everybody; `returned`, nobody. `undefined` when there is none. */
  endCanary(end: CanaryEnd, reason: string): ApplyResult | undefined {
    const ended = this.#endCanary(end, reason);
    return ended === undefined ? undefined : this.#finish(ended);
  }

  #endCanary(end: CanaryEnd, reason: string): ApplyResult | undefined {
    const canary = this.#canary;
    const live = this.#live;
    if (canary === undefined || live === undefined) return undefined;
    this.#canary = undefined;
    canary.stop();
    const { generation } = canary;
    const leaving = end === "promoted" ? live : generation;
    if (end === "promoted") this.#serve(generation, false);
    this.#drain(leaving, leaving.snapshot.server.drainTimeoutMs);
    const ended = { ...this.#result(end, generation.snapshot.digest, []), generation: generation.number, reason };
    this.onCanaryEnd(ended);
    return ended;
  }

  /** Applies a snapshot. Whatever fails before the swap changes nothing. */
  apply(snapshot: Snapshot, options: ApplyOptions = {}): Promise<ApplyResult> {
    // Whoever goes back by itself does not overtake a person, and what runs already, renewed, nobody at all.
    const { digest } = snapshot;
    const isSame = options.isRenewal === true && digest === this.#live?.snapshot.digest;
    if (isSame) return Promise.resolve({ ...this.#result("unchanged", digest, []), generation: this.#live?.number });
    if (options.replaces !== undefined && this.#waiting !== undefined) {
      return Promise.resolve(this.#result("superseded", digest, []));
    }
    return new Promise((resolve, reject) => {
      this.#waiting?.resolve(this.#result("superseded", this.#waiting.snapshot.digest, []));
      this.#waiting = { snapshot, options, live: this.#live, resolve, reject };
      if (this.#isOutdated()) this.#onNews?.();
      if (!this.#isApplying) void this.#work();
    });
  }

  /** Records a candidate that could not even become a snapshot. */
  refuse(findings: readonly Finding[]): ApplyResult {
    return this.#finish(this.#result("refused", undefined, findings));
  }

  /** What applying a snapshot would find before anything is made. Changes nothing. */
  review(snapshot: Snapshot, { force }: ApplyOptions = {}): Finding[] {
    const order = [
      ...checkPipelines(snapshot.pipelines, this.#definitions.steps, snapshot),
      ...policyFindings(snapshot, this.#definitions),
    ];
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
    this.#canary?.stop();
    if (this.#canary !== undefined) this.#drain(this.#canary.generation, deadlineMs);
    this.#canary = undefined;
    if (live !== undefined) this.#drain(live, deadlineMs);
    await Promise.all(this.#draining.values());
  }

  async #work(): Promise<void> {
    this.#isApplying = true;
    for (let job = this.#waiting; job !== undefined; job = this.#waiting) {
      this.#waiting = undefined;
      this.#attempting = job.snapshot.digest;
      try {
        const { author } = job.options;
        const result = { ...(await this.#attempt(job)), ...(author !== undefined && { author }) };
        // A renewal that found nothing new is no news.
        const isNews = result.outcome !== "unchanged" || job.options.isRenewal !== true;
        job.resolve(isNews ? this.#finish(result) : result);
      } catch (error) {
        job.reject(error);
      }
    }
    this.#isApplying = false;
  }

  async #attempt({ snapshot, options, live }: Waiting): Promise<ApplyResult> {
    const { digest } = snapshot;
    if (this.#isLate(options, live)) return this.#result("superseded", digest, []);
    const isNumbered = ({ number }: Generation): boolean => (options.number ?? number) === number;
    if (this.#live?.snapshot.digest === digest && isNumbered(this.#live)) {
      if (options.isRenewal !== true) this.endCanary("returned", "what runs was applied again");
      return { ...this.#result("unchanged", digest, []), generation: this.#live.number };
    }
    if (this.#canary?.generation.snapshot.digest === digest && isNumbered(this.#canary.generation)) {
      const { number: generation } = this.#canary.generation;
      const isAgain = options.canary !== undefined;
      const promoted = isAgain ? undefined : this.#endCanary("promoted", "its contents were applied");
      return promoted ?? { ...this.#result("unchanged", digest, []), generation };
    }
    const findings = this.review(snapshot, options);
    if (findings.length > 0) return this.#result("refused", digest, findings);
    if (!(await this.#hasRoom())) return this.#result("superseded", digest, []);
    const turns = new Turns();
    await turns.giveWay();
    let next: Generation;
    try {
      next = await buildGeneration(this.#container, snapshot, options.number ?? this.#numberOf(digest, this.#lastNumber));
    } catch (error) {
      return this.#result("refused", digest, buildFindings(snapshot, error));
    }
    await turns.giveWay();
    const { failures, isCut } = await this.#test(next, options);
    if (failures.length > 0 || isCut || this.#isLate(options, live)) {
      await next.drain(0);
      return this.#result(failures.length > 0 ? "refused" : "superseded", digest, failures);
    }
    this.#lastNumber = Math.max(this.#lastNumber, next.number);
    this.endCanary("returned", "another edit took its place");
    const previous = this.#live;
    if (options.canary !== undefined && previous !== undefined) {
      this.#canary = startCanary(next, previous, options.canary, this.#clock.now(), this.#onVerdict);
      return { ...this.#result("canary", digest, []), generation: next.number };
    }
    this.#serve(next, options.hasServed !== true && options.isRenewal !== true);
    if (previous !== undefined) this.#drain(previous, snapshot.server.drainTimeoutMs);
    const { reason } = options;
    return { ...this.#result("applied", digest, []), generation: next.number, ...(reason !== undefined && { reason }) };
  }

  /** The swap. */
  #serve(generation: Generation, isEdit: boolean): void {
    const previous = this.#live;
    this.#live = generation;
    this.#swaps?.follow(generation, previous, isEdit);
    this.#onServe?.(generation);
  }

  /** Whether what a candidate was to replace serves nobody any more. A renewal of what ran then would undo the edit since. */
  #isLate({ replaces, isRenewal = false }: ApplyOptions, before: Generation | undefined): boolean {
    return (replaces !== undefined && this.#live?.number !== replaces) || (isRenewal && this.#live !== before);
  }

  /** Findings of the candidate's own tests. A newer candidate cuts them short, and so does the end of the manager. */
  async #test(candidate: Generation, { hasServed = false }: ApplyOptions): Promise<Tested> {
    if (this.#rehearse === undefined || hasServed) return { failures: [], isCut: false };
    const controller = new AbortController();
    this.#onNews = () => controller.abort();
    if (this.#isOutdated()) controller.abort();
    try {
      const failures = await this.#rehearse(candidate, controller.signal);
      return { failures, isCut: controller.signal.aborted };
    } catch (error) {
      await candidate.drain(0);
      throw error;
    } finally {
      this.#onNews = undefined;
    }
  }

  /** Waits until another generation may live. Resolves with false when a newer candidate came or the manager closed. */
  async #hasRoom(): Promise<boolean> {
    if (this.#draining.size >= MAX_DRAINING) {
      this.#log.warn("an edit waits until one of the old generations has drained", { draining: this.#draining.size });
    }
    while (this.#draining.size >= MAX_DRAINING && !this.#isOutdated()) {
      const news = new Promise<void>((resolve) => (this.#onNews = resolve));
      await Promise.race([news, ...this.#draining.values()]);
      this.#onNews = undefined;
    }
    return !this.#isOutdated();
  }

  /** Whether the candidate that is being applied has been overtaken: by other contents, or by the end. A renewal can wait. */
  #isOutdated(): boolean {
    const next = this.#waiting?.options.isRenewal === true ? undefined : this.#waiting;
    return this.#isClosed || (next !== undefined && next.snapshot.digest !== this.#attempting);
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
    this.#outcomes[result.outcome]++;
    logResult(this.#log, result, this.#live?.number);
    return result;
  }
}
