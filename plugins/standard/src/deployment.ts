/** A deployment: what the process knows of one target. It outlives generations. */

import { Places } from "@sluice/kit/state";
import type { Attempt, Clock, DeploymentRegistry, DeploymentView, SharedValue, Target } from "@sluice/spec";
import { Breaker, type BreakerChange, type BreakerSettings } from "./breaker.ts";
import { PeakAverage } from "./deployment-latency.ts";
import { verdictOf } from "./deployment-verdict.ts";

/** The state of one target. */
export class Deployment implements SharedValue {
  readonly target: Target;
  readonly breaker = new Breaker();
  readonly slots: Places;
  readonly latency = new PeakAverage();
  readonly #clock: Clock;
  readonly #onClose: () => void;
  #successes = 0;
  #failures = 0;
  #others = 0;

  constructor(target: Target, clock: Clock, onClose: () => void = () => undefined) {
    this.target = target;
    this.slots = new Places(() => clock.monotonic());
    this.#clock = clock;
    this.#onClose = onClose;
  }

  /** Content arrived after so many milliseconds: the latency is known, and a probe has succeeded. */
  answered(latencyMs: number, isProbe: boolean): BreakerChange {
    const nowMs = this.#clock.monotonic();
    this.latency.observe(latencyMs, nowMs);
    return isProbe ? this.breaker.recover(nowMs) : undefined;
  }

  /** Counts an attempt that has ended. */
  count(attempt: Attempt, settings: BreakerSettings, isProbe: boolean): BreakerChange {
    const verdict = verdictOf(attempt);
    if (verdict === "success") this.#successes += 1;
    else if (verdict === "failure" || verdict === "credential") this.#failures += 1;
    else this.#others += 1;
    return this.breaker.count(verdict, this.#clock.monotonic(), settings, isProbe, attempt.error?.retryAfterMs);
  }

  view(): DeploymentView {
    const nowMs = this.#clock.monotonic();
    const { breaker, slots } = this;
    const leftMs = breaker.openUntilMs === undefined ? undefined : breaker.openUntilMs - nowMs;
    return {
      id: this.target.id,
      provider: this.target.provider,
      model: this.target.model,
      breaker: breaker.state(nowMs),
      ejectedUntilMs: leftMs === undefined ? undefined : this.#clock.now() + leftMs,
      ejections: breaker.ejections,
      consecutiveFailures: breaker.consecutive,
      inFlight: slots.inFlight,
      queued: slots.queued,
      latencyMs: this.latency.lastMs,
      successes: this.#successes,
      failures: this.#failures,
      others: this.#others,
    };
  }

  close(): void {
    this.#onClose();
  }
}

/** The deployments of the process, in the order in which they came. */
export class Deployments implements DeploymentRegistry {
  readonly #open = new Map<string, Deployment>();

  /** A new deployment, listed until it closes. */
  open(target: Target, clock: Clock): Deployment {
    const deployment = new Deployment(target, clock, () => {
      if (this.#open.get(target.id) === deployment) this.#open.delete(target.id);
    });
    this.#open.set(target.id, deployment);
    return deployment;
  }

  list(): readonly DeploymentView[] {
    return [...this.#open.values()].map((deployment) => deployment.view());
  }

  close(): void {
    this.#open.clear();
  }
}
