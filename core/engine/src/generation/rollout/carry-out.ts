/**
 * Carries out the effects of the rollout: makes candidates, swaps, drains, and runs the clock of a
 * canary.
 */

import type { Generation } from "../generation.ts";
import type { ProcessParts } from "../parts.ts";
import type { ApplyResult, EditPort, ManagerOptions, Waiting } from "./apply.ts";
import { Attempts } from "./attempts.ts";
import { type Canary, startCanary } from "./canary/canary.ts";
import { Draining } from "./draining.ts";
import { CandidateMaker } from "./make-candidate.ts";
import type { RolloutFault } from "./rollout-monitor.ts";
import type { CanaryEnded, RolloutEffect, RolloutEvent } from "./state/model.ts";

type Event = RolloutEvent<Generation, Waiting>;
type Effect = RolloutEffect<Generation, Waiting>;
type Handlers = {
  readonly [T in Effect["type"]]: (effect: Extract<Effect, { readonly type: T }>) => void;
};

/** What the effects need of the rollout. */
export interface EffectParts {
  readonly process: ProcessParts;
  readonly options: ManagerOptions;
  readonly dispatch: (event: Event) => void;
  readonly live: () => Generation | undefined;
  readonly isOvertaken: () => boolean;
}

/** The effects of one process. */
export class RolloutEffects {
  readonly attempts: Attempts;
  readonly draining: Draining;
  readonly maker: CandidateMaker;
  /** Reads contents, and writes the history. */
  edits: EditPort | undefined;
  /** The drain timeout of the stop. */
  stopTimeoutMs = 0;
  readonly #parts: EffectParts;
  #canary: Canary | undefined;
  #lastNumber: number;
  readonly #handlers: Handlers = {
    make: ({ edit }) => void this.#make(edit),
    overtake: () => this.maker.overtake(),
    serve: ({ generation, previous, isJudged }) => this.#serve(generation, previous, isJudged),
    drain: ({ generation, timeoutOf }) => {
      const timeoutMs = timeoutOf?.snapshot.server.drainTimeoutMs ?? this.stopTimeoutMs;
      this.draining.add(generation, timeoutMs, () =>
        this.#parts.dispatch({ type: "drained", generation }),
      );
    },
    discard: ({ generation }) => void generation.drain(0),
    "begin-canary": (effect) => this.#beginCanary(effect),
    "stop-canary": () => {
      this.#canary?.stop();
      this.#canary = undefined;
    },
    vote: ({ verdict }) => this.#parts.options.onVerdict?.(verdict),
    "canary-ended": (effect) => this.#endCanary(effect),
    "end-trial": () => this.#parts.options.monitor?.settle(),
    "roll-back": ({ fault }) => void this.#rollBack(fault),
    notify: ({ notice }) => this.#parts.options.onRollback?.(notice),
    // The log has the result.
    "read-files": () => void this.edits?.reload().catch(() => undefined),
    settle: (effect) => effect.edit.resolve(this.attempts.settle(effect, this.#parts.live())),
    reject: ({ edit, error }) => edit.reject(error),
  };

  constructor(parts: EffectParts) {
    const { process, options, live, isOvertaken } = parts;
    const { preflight, lastNumber = 0, numberOf = (_digest, last) => last + 1 } = options;
    this.#parts = parts;
    this.#lastNumber = lastNumber;
    this.attempts = new Attempts(process);
    this.draining = new Draining(process.log);
    this.maker = new CandidateMaker({
      process,
      draining: this.draining,
      preflight,
      numberOf: (digest) => numberOf(digest, this.#lastNumber),
      live,
      isOvertaken,
    });
  }

  /** The clock and the counts of the canary. */
  get canary(): Canary | undefined {
    return this.#canary;
  }

  /** Carries out one effect. */
  carryOut<T extends Effect["type"]>(effect: Extract<Effect, { readonly type: T }>): void {
    const handle = this.#handlers[effect.type as T] as (one: typeof effect) => void;
    handle(effect);
  }

  /** The result of a candidate is an event. */
  async #make(edit: Waiting): Promise<void> {
    const { dispatch } = this.#parts;
    try {
      dispatch(await this.maker.make(edit));
    } catch (error) {
      dispatch({ type: "threw", error });
    }
  }

  #serve(generation: Generation, previous: Generation | undefined, isJudged: boolean): void {
    const { monitor, onServe } = this.#parts.options;
    this.#count(generation);
    monitor?.follow(generation, previous, isJudged);
    onServe?.(generation);
  }

  #beginCanary({
    generation,
    live,
    plan,
  }: Extract<Effect, { readonly type: "begin-canary" }>): void {
    const { process, dispatch } = this.#parts;
    this.#count(generation);
    this.#canary = startCanary(generation, live, plan, process.clock.now(), (verdict) =>
      dispatch({ type: "verdict", verdict }),
    );
  }

  #endCanary(effect: CanaryEnded<Generation, Waiting>): void {
    const result: ApplyResult = this.attempts.canaryResult(effect);
    const { source } = effect.edit.options;
    if (source !== undefined) this.edits?.canaryEnded(result, source);
    if (effect.isReported) this.attempts.report(result, this.#parts.live());
  }

  async #rollBack(fault: RolloutFault): Promise<void> {
    const { process, dispatch } = this.#parts;
    try {
      await this.edits?.rollBack(fault);
    } catch (error) {
      const { generation, reason } = fault;
      process.log.error("the automatic rollback failed", { generation, reason, error });
    }
    // It came to no edit where it is still under way.
    dispatch({ type: "rollback-failed", fault });
  }

  #count({ number }: Generation): void {
    this.#lastNumber = Math.max(this.#lastNumber, number);
  }
}
