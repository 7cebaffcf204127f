/** The manager: carries out the effects of the rollout. `rollout/state.ts` has the decisions. */

import type { Clock, Log } from "@sluice/contract";
import type { Finding } from "../config/finding.ts";
import { TimeSlices } from "../config/files/slices.ts";
import type { Snapshot } from "../config/snapshot.ts";
import { checkCandidate, resolvedAs } from "../lint/check-candidate.ts";
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
  type Preflight,
  type Tested,
  type Waiting,
} from "./rollout/apply.ts";
import { type Canary, type CanaryEnd, type CanaryVerdict, endOf, startCanary } from "./rollout/canary.ts";
import { buildGeneration, type Generation } from "./generation.ts";
import {
  type Ended,
  isOvertaken,
  reduce,
  type RolloutEffect,
  type RolloutEvent,
  type RolloutState,
  type Settled,
  START,
} from "./rollout/state.ts";
import { buildFindings } from "./build-error.ts";
import { coldChanges } from "./cold.ts";
import { isForced, shrinkage } from "./rollout/shrink-guard.ts";
import type { RolloutMonitor } from "./rollout/rollout-monitor.ts";
import type { ProcessParts } from "./parts.ts";

const SUPERSEDED = { type: "failed", outcome: "superseded", findings: [] } as const;

/** Applies snapshots, one at a time; of those that wait, the newest wins. */
export class GenerationManager {
  readonly #process: ProcessParts;
  readonly #definitions: Definitions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #preflight: Preflight | undefined;
  readonly #monitor: RolloutMonitor | undefined;
  readonly #draining = new Map<Generation, Promise<void>>();
  /** The state of the rollout. Only `#dispatch` changes it. */
  #state: RolloutState<Generation, Waiting> = START;
  /** The clock and the counts of the canary. */
  #canary: Canary | undefined;
  /** Called with the result of each canary that has ended. */
  onCanaryEnd: (result: ApplyResult) => void = () => undefined;
  #lastNumber = 0;
  readonly #numberOf: (digest: string, last: number) => number;
  readonly #onServe: ((generation: Generation) => void) | undefined;
  readonly #onVerdict: (verdict: CanaryVerdict) => void;
  #lastAttempt: ApplyResult | undefined;
  readonly #outcomes = noOutcomes();
  #closeDeadlineMs = 0;
  /** Ends a wait for room and the tests of a candidate: a newer one came, or the manager closes. */
  #onOvertaken: (() => void) | undefined;

  constructor(process: ProcessParts, { lastNumber = 0, preflight, monitor, numberOf, onVerdict, onServe }: ManagerOptions = {}) {
    this.#preflight = preflight;
    this.#monitor = monitor;
    this.#onVerdict = onVerdict ?? ((verdict) => this.endCanary(...endOf([verdict])));
    this.#numberOf = numberOf ?? ((_digest, last) => last + 1);
    this.#onServe = onServe;
    this.#lastNumber = lastNumber;
    this.#process = process;
    this.#definitions = process.definitions;
    this.#clock = process.clock;
    this.#log = process.log;
  }

  /** The generation that new exchanges lease; `undefined` before the first one and after `close`. */
  get live(): Generation | undefined {
    return this.#state.live;
  }

  get status(): ManagerStatus {
    return {
      live: this.#state.live,
      draining: this.#state.draining,
      canary: this.#canary,
      judged: this.#monitor?.judged,
      failing: this.#monitor?.failing ?? 0,
      lastAttempt: this.#lastAttempt,
      outcomes: this.#outcomes,
    };
  }

  /** Whether a candidate is being applied. */
  get isBusy(): boolean {
    return this.#state.making !== undefined;
  }

  /** The generation for a presented key: the live one, or the canary. Asked only where a canary may run. */
  generationFor(presented: () => string): Generation | undefined {
    const canary = this.#canary;
    return canary !== undefined && canary.has(presented()) ? canary.generation : this.#state.live;
  }

  /** Ends the canary: `promoted`, it becomes live; `returned`, it drains. `undefined` without a canary. */
  endCanary(end: CanaryEnd, reason: string): ApplyResult | undefined {
    if (this.#state.canary === undefined) return undefined;
    this.#dispatch({ type: "canary-ended", end, reason });
    return this.#lastAttempt;
  }

  /** Applies a snapshot. A failure before the swap changes nothing. */
  apply(snapshot: Snapshot, options: ApplyOptions = {}): Promise<ApplyResult> {
    return new Promise((resolve, reject) => {
      this.#dispatch({ type: "asked", edit: { snapshot, options, live: this.#state.live, resolve, reject } });
    });
  }

  /** Records a candidate that could not even become a snapshot. */
  refuse(findings: readonly Finding[]): ApplyResult {
    return this.#finish(this.#result("refused", undefined, findings));
  }

  /** The findings of a snapshot before any part is built. Changes nothing. */
  review(snapshot: Snapshot, { force }: ApplyOptions = {}): Finding[] {
    const own = checkCandidate(resolvedAs(snapshot), this.#definitions);
    if (this.#state.live === undefined) return own;
    const { snapshot: live } = this.#state.live;
    const shrunk = isForced(snapshot, force) ? [] : shrinkage(live, snapshot, this.#definitions.steps);
    return [...coldChanges(live, snapshot), ...own, ...shrunk];
  }

  /** Stops handing out generations and waits for the leases, up to the deadline. */
  async close(deadlineMs: number): Promise<void> {
    this.#closeDeadlineMs = deadlineMs;
    this.#dispatch({ type: "stopped" });
    await Promise.all(this.#draining.values());
  }

  /** Takes an event, and carries out its effects before the next one. */
  #dispatch(event: RolloutEvent<Generation, Waiting>): void {
    const { state, effects } = reduce(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: RolloutEffect<Generation, Waiting>): void {
    switch (effect.type) {
      case "make":
        void this.#make(effect.edit);
        return;
      case "overtake":
        this.#onOvertaken?.();
        return;
      case "serve":
        this.#serve(effect.generation, effect.previous, effect.isJudged);
        return;
      case "drain":
        this.#drain(effect.generation, effect.timeoutOf?.snapshot.server.drainTimeoutMs ?? this.#closeDeadlineMs);
        return;
      case "discard":
        void effect.generation.drain(0);
        return;
      case "begin-canary":
        this.#count(effect.generation);
        this.#canary = startCanary(effect.generation, effect.live, effect.plan, this.#clock.now(), this.#onVerdict);
        return;
      case "stop-canary":
        this.#canary?.stop();
        this.#canary = undefined;
        return;
      case "canary-ended":
        this.#reportEnd(effect);
        return;
      case "settle":
        this.#settle(effect);
        return;
      case "reject":
        effect.edit.reject(effect.error);
    }
  }

  #serve(generation: Generation, previous: Generation | undefined, isJudged: boolean): void {
    this.#count(generation);
    this.#monitor?.follow(generation, previous, isJudged);
    this.#onServe?.(generation);
  }

  #count({ number }: Generation): void {
    this.#lastNumber = Math.max(this.#lastNumber, number);
  }

  #reportEnd({ end, generation, reason, isReported }: Ended<Generation>): void {
    const ended = { ...this.#result(end, generation.snapshot.digest, []), generation: generation.number, reason };
    this.onCanaryEnd(ended);
    if (isReported) this.#finish(ended);
  }

  #settle({ edit, outcome, generation, reason, findings, isReported }: Settled<Waiting>): void {
    const { author } = edit.options;
    const result = {
      ...this.#result(outcome, edit.snapshot.digest, findings),
      generation,
      ...(reason !== undefined && { reason }),
      ...(isReported && author !== undefined && { author }),
    };
    edit.resolve(isReported ? this.#finish(result) : result);
  }

  /** Makes and tests a candidate. Its result is an event. */
  async #make(edit: Waiting): Promise<void> {
    try {
      this.#dispatch(await this.#makeGeneration(edit));
    } catch (error) {
      this.#dispatch({ type: "threw", error });
    }
  }

  async #makeGeneration({ snapshot, options }: Waiting): Promise<RolloutEvent<Generation, Waiting>> {
    const findings = this.review(snapshot, options);
    if (findings.length > 0) return { type: "failed", outcome: "refused", findings };
    if (!(await this.#hasRoom())) return SUPERSEDED;
    const slices = new TimeSlices();
    await slices.pauseIfOver();
    let generation: Generation;
    try {
      const number = options.number ?? this.#numberOf(snapshot.digest, this.#lastNumber);
      generation = await buildGeneration(this.#process, snapshot, number);
    } catch (error) {
      return { type: "failed", outcome: "refused", findings: buildFindings(snapshot, error) };
    }
    await slices.pauseIfOver();
    const { failures, isCut } = await this.#test(generation, options);
    if (failures.length === 0 && !isCut) return { type: "built", generation };
    await generation.drain(0);
    return failures.length > 0 ? { type: "failed", outcome: "refused", findings: failures } : SUPERSEDED;
  }

  /** Findings of the candidate's own tests. A newer candidate cuts them short, and so does the end of the manager. */
  async #test(candidate: Generation, { hasServed = false }: ApplyOptions): Promise<Tested> {
    if (this.#preflight === undefined || hasServed) return { failures: [], isCut: false };
    const controller = new AbortController();
    this.#onOvertaken = () => controller.abort();
    if (isOvertaken(this.#state)) controller.abort();
    try {
      const failures = await this.#preflight(candidate, controller.signal);
      return { failures, isCut: controller.signal.aborted };
    } catch (error) {
      await candidate.drain(0);
      throw error;
    } finally {
      this.#onOvertaken = undefined;
    }
  }

  /** Waits until another generation may live. Resolves with false when a newer candidate came or the manager closed. */
  async #hasRoom(): Promise<boolean> {
    if (this.#draining.size >= MAX_DRAINING) {
      this.#log.warn("an edit waits until one of the old generations has drained", { draining: this.#draining.size });
    }
    while (this.#draining.size >= MAX_DRAINING && !isOvertaken(this.#state)) {
      const news = new Promise<void>((resolve) => (this.#onOvertaken = resolve));
      await Promise.race([news, ...this.#draining.values()]);
      this.#onOvertaken = undefined;
    }
    return !isOvertaken(this.#state);
  }

  #drain(generation: Generation, deadlineMs: number): void {
    const drained = generation.drain(deadlineMs).then(() => {
      this.#draining.delete(generation);
      this.#dispatch({ type: "drained", generation });
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
    logResult(this.#log, result, this.#state.live?.number);
    return result;
  }
}
