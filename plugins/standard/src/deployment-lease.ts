/** A lease: one exchange's use of a deployment, from the choice to the end of what came of it. */

import { holderOf } from "@sluice/kit/state";
import type { Exchange, Log } from "@sluice/spec";
import type { BreakerChange, BreakerSettings } from "./breaker.ts";
import type { Deployment } from "./deployment.ts";

/** What a lease is made from. Its holder has taken the slot. */
export interface LeaseParts {
  readonly deployment: Deployment;
  readonly exchange: Exchange;
  readonly settings: BreakerSettings;
  readonly log: Log;
  readonly nowMs: number;
}

/** Holds a slot, and the probe where it is one. Exactly one of `fail` and `succeed` ends it. */
export class Lease {
  readonly #parts: LeaseParts;
  /** Attempts from this place on are this lease's. */
  readonly #from: number;
  #isProbe: boolean;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
    this.#from = parts.exchange.attempts.length;
    this.#isProbe = parts.deployment.breaker.enter(parts.nowMs);
  }

  /** No reply came of it. */
  fail(): void {
    this.#end(this.#parts.exchange.attempts.length);
  }

  /** A reply came. One that is not whole yet keeps the slot to the end of the exchange. */
  succeed(): void {
    const { exchange, deployment } = this.#parts;
    const to = exchange.attempts.length;
    const last = to > this.#from ? exchange.attempts[to - 1] : undefined;
    if (last?.upstreamMs !== undefined) this.#tell(deployment.answered(last.upstreamMs, this.#isProbe));
    if (exchange.reply === undefined || exchange.reply.kind === "whole") {
      this.#end(to);
      return;
    }
    this.#endProbe();
    exchange.onSettle(() => this.#end(to));
  }

  #end(to: number): void {
    const { deployment, exchange, settings } = this.#parts;
    const attempts = exchange.attempts.slice(this.#from, to);
    // Of several attempts, the last one decides the probe.
    for (const [index, attempt] of attempts.entries()) {
      const isProbe = this.#isProbe && index === attempts.length - 1;
      this.#tell(deployment.count(attempt, settings, isProbe), attempt.error?.code);
    }
    this.#endProbe();
    deployment.slots.release(holderOf(exchange.identity));
  }

  #endProbe(): void {
    if (this.#isProbe) this.#parts.deployment.breaker.endProbe();
    this.#isProbe = false;
  }

  /** One log line for each ejection and each recovery. */
  #tell(change: BreakerChange, cause?: string): void {
    if (change === undefined) return;
    const { deployment, log } = this.#parts;
    const { id, ejections, ejectedUntilMs } = deployment.view();
    if (change === "recovered") log.info("deployment recovered", { deployment: id });
    else {
      const until = new Date(ejectedUntilMs ?? 0).toISOString();
      log.warn("deployment ejected", { deployment: id, cause, until, ejections });
    }
  }
}
