/**
 * Counts the requests of a new live generation, and finds whether they fail where those before it
 * did not.
 */

import type { Clock } from "@sluice/contract";
import type { AutoRollbackSettings, Snapshot } from "../../config/snapshot.ts";
import type { Generation } from "../generation.ts";
import { EndedByKey, type EndedRequest, evidenceOf } from "./ended-by-key.ts";
import type { Counted } from "./counted.ts";

/** The ends of requests. */
export interface Ended {
  readonly requests: number;
  readonly errors: number;
}

/** A generation that is judged. */
export interface Judged extends Ended {
  readonly generation: number;
  /** Until when, in milliseconds since 1970. */
  readonly untilMs: number;
  /** The newest requests before it, and those that ended on an older generation since. */
  readonly before: Ended;
}

/** Why a generation is to be left. */
export interface RolloutFault {
  readonly generation: number;
  /** The generation before it. */
  readonly previous: number;
  /** A sentence for the operator. */
  readonly reason: string;
}

/** Requests before a swap that it is compared with. */
const KEPT = 100;

interface Watched {
  readonly generation: Generation;
  readonly previous: Generation;
  readonly untilMs: number;
  readonly earlier: readonly EndedRequest[];
  readonly since: EndedByKey;
  readonly before: EndedByKey;
}

/** Follows the generation that serves all keys. */
export class RolloutMonitor {
  /** Receives the fault at each request that shows it, until `settle`. */
  onFault: (fault: RolloutFault) => unknown = () => undefined;
  /** Faults that were settled. */
  failing = 0;
  readonly #settings: AutoRollbackSettings;
  readonly #clock: Clock;
  /** How the newest requests ended, the newest last. */
  #newest: EndedRequest[] = [];
  #live: Generation | undefined;
  #watched: Watched | undefined;

  constructor(settings: AutoRollbackSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** The generation that is judged now. */
  get judged(): Judged | undefined {
    const watched = this.#current();
    if (watched === undefined) return undefined;
    const { generation, untilMs, since, before } = watched;
    const { requests, errors } = since;
    return {
      generation: generation.number,
      untilMs,
      requests,
      errors,
      before: { requests: before.requests, errors: before.errors },
    };
  }

  /**
   * A generation serves all keys from now on. `isTrial`: it is judged beside the requests of the
   * previous one.
   */
  follow(generation: Generation, previous: Generation | undefined, isTrial: boolean): void {
    const isJudged = isTrial && previous !== undefined;
    const before = new EndedByKey();
    for (const ended of this.#newest) before.add(ended);
    this.#live = generation;
    this.#watched = !isJudged
      ? undefined
      : {
          generation,
          previous,
          untilMs: this.#clock.now() + this.#settings.forMs,
          earlier: [...this.#newest],
          since: new EndedByKey(),
          before,
        };
    const change = isJudged ? { from: previous.snapshot, to: generation.snapshot } : undefined;
    generation.tally = { add: (counted: Counted) => this.#count(generation, counted, change) };
  }

  /**
   * The trial is over, because the generation is left. Its requests are no measure for the next
   * one.
   */
  settle(): void {
    if (this.#watched === undefined) return;
    this.failing += 1;
    this.#newest = [...this.#watched.earlier];
    this.#watched = undefined;
  }

  #count(
    generation: Generation,
    counted: Counted,
    change: { readonly from: Snapshot; readonly to: Snapshot } | undefined,
  ): void {
    const watched = this.#current();
    const ended = evidenceOf(counted, undefined);
    if (generation !== this.#live) {
      // An upstream that fails fails those of before as well.
      watched?.before.add(ended);
      return;
    }
    this.#newest.push(ended);
    if (this.#newest.length > KEPT) this.#newest.shift();
    if (watched === undefined) return;
    const evidence = ended.isError ? evidenceOf(counted, change) : ended;
    watched.since.add(evidence);
    const fault = evidence.isError ? this.#faultOf(watched) : undefined;
    if (fault !== undefined) this.onFault(fault);
  }

  #faultOf({ generation, previous, since, before }: Watched): RolloutFault | undefined {
    const { errorRate, onlyBelow, minRequests } = this.#settings;
    const { requests, errors } = since;
    if (requests < minRequests || !since.exceeds(errorRate)) return undefined;
    if (before.requests < minRequests || before.commonShare() >= onlyBelow) return undefined;
    const reason = `${errors} of the first ${requests} requests of generation ${generation.number} failed, of the ${before.requests} before ${before.errors}`;
    return { generation: generation.number, previous: previous.number, reason };
  }

  #current(): Watched | undefined {
    if (this.#watched !== undefined && this.#clock.now() > this.#watched.untilMs)
      this.#watched = undefined;
    return this.#watched;
  }
}
