/**
 * The manager: keeps the state of the rollout. What it decides stands in `rollout/state/reduce.ts`.
 */

import type { Finding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";
import type { Generation } from "./generation.ts";
import type { ProcessParts } from "./parts.ts";
import type {
  ApplyOptions,
  ApplyResult,
  EditPort,
  ManagerOptions,
  ManagerStatus,
  Waiting,
} from "./rollout/apply.ts";
import type { CanaryEnd } from "./rollout/canary/canary.ts";
import type { RunningContents } from "./rollout/candidate.ts";
import { RolloutEffects } from "./rollout/carry-out.ts";
import type { RolloutEvent, RolloutState } from "./rollout/state/model.ts";
import { isOvertaken, reduce, startState } from "./rollout/state/reduce.ts";
import { isBusy } from "./rollout/state/trials.ts";

type Event = RolloutEvent<Generation, Waiting>;

/** Applies snapshots, one at a time; of those that wait, the newest wins. */
export class GenerationManager {
  /** Where the rollout stands: changed by `#dispatch` alone. */
  #state: RolloutState<Generation, Waiting>;
  readonly #effects: RolloutEffects;
  readonly #monitor: ManagerOptions["monitor"];

  constructor(process: ProcessParts, options: ManagerOptions = {}) {
    const { monitor, onVerdict } = options;
    this.#state = startState(onVerdict !== undefined);
    this.#monitor = monitor;
    this.#effects = new RolloutEffects({
      process,
      options,
      dispatch: (event) => this.#dispatch(event),
      live: () => this.#state.live,
      isOvertaken: () => isOvertaken(this.#state),
    });
    if (monitor !== undefined)
      monitor.onFault = (fault) => this.#dispatch({ type: "fault", fault });
  }

  /**
   * The generation that new exchanges lease; `undefined` before the first one and after `close`.
   */
  get live(): Generation | undefined {
    return this.#state.live;
  }

  get status(): ManagerStatus {
    const { canary, attempts } = this.#effects;
    return {
      live: this.#state.live,
      draining: this.#state.draining,
      canary,
      judged: this.#monitor?.judged,
      failing: this.#monitor?.failing ?? 0,
      lastAttempt: attempts.last,
      outcomes: attempts.outcomes,
    };
  }

  /** Whether an edit or an automatic rollback is on its way. */
  get isBusy(): boolean {
    return isBusy(this.#state);
  }

  /** The contents that serve all keys, and those that hold the files back. */
  get contents(): RunningContents {
    return this.#state;
  }

  /** Connects the edits: the rollout asks them to read contents and to write the history. */
  attach(edits: EditPort): void {
    this.#effects.edits = edits;
  }

  /**
   * The generation for a presented key: the live one, or the canary. Asked only where a canary may
   * run.
   */
  generationFor(presented: () => string): Generation | undefined {
    const { canary } = this.#effects;
    return canary !== undefined && canary.has(presented()) ? canary.generation : this.#state.live;
  }

  /**
   * Ends the canary: `promoted`, it becomes live; `returned`, it drains. `undefined` without a
   * canary.
   */
  endCanary(end: CanaryEnd, reason: string): ApplyResult | undefined {
    if (this.#state.canary === undefined) return undefined;
    this.#dispatch({ type: "canary-ended", end, reason });
    return this.#effects.attempts.last;
  }

  /** Takes what all processes decided about a canary, or that another process has rolled back. */
  notify(event: Extract<Event, { readonly type: "votes-counted" | "noticed" }>): void {
    this.#dispatch(event);
  }

  /**
   * Counts a reading: no automatic rollback begins before its end. Returns the end, which is called
   * once.
   */
  beginReading(): () => void {
    this.#dispatch({ type: "reading" });
    return () => this.#dispatch({ type: "read" });
  }

  /** Applies a snapshot. A failure before the swap changes nothing. */
  apply(snapshot: Snapshot, options: ApplyOptions = {}): Promise<ApplyResult> {
    return new Promise((resolve, reject) => {
      this.#dispatch({
        type: "asked",
        edit: { snapshot, options, live: this.#state.live, resolve, reject },
      });
    });
  }

  /** Records contents that have findings before they become a snapshot. */
  refuse(findings: readonly Finding[], contents?: string): ApplyResult {
    return this.#effects.attempts.refuse(findings, this.#state.live, contents);
  }

  /** What applying a snapshot would find before anything is made. Changes nothing. */
  review(snapshot: Snapshot, force?: string): Finding[] {
    return this.#effects.maker.review(snapshot, force);
  }

  /** Stops handing out generations and waits for the leases, up to the deadline. */
  async close(deadlineMs: number): Promise<void> {
    this.#effects.stopTimeoutMs = deadlineMs;
    this.#dispatch({ type: "stopped" });
    await this.#effects.draining.all();
  }

  /** Takes an event, and carries out its effects before the next one. */
  #dispatch(event: Event): void {
    const { state, effects } = reduce(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#effects.carryOut(effect);
  }
}
