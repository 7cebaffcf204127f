/** A deployment: the state of one configured target in this process. It outlives generations. */

import { isModelOf } from "@sluice/runtime";
import { Places } from "@sluice/kit/internals";
import type {
  Clock,
  DeploymentEvent,
  DeploymentRegistry,
  DeploymentView,
  Log,
  ModelHealth,
  SharedValue,
  Target,
} from "@sluice/contract";
import type { Breaker } from "./breaker.ts";
import type { Verdict } from "./verdict.ts";
import { TargetTokens } from "../limits/target-tokens.ts";
import { EventLog } from "./event-log.ts";
import { type Called, type Health, HealthBook } from "./health.ts";

/** Maximum of models that a view lists for one deployment. */
const MAX_SHOWN_MODELS = 20;

/** The slots, the counts and the callees of one target. Its health is that of its callees. */
export class Deployment implements SharedValue {
  readonly target: Target;
  readonly slots: Places;
  readonly #clock: Clock;
  readonly #book: HealthBook;
  readonly #onClose: () => void;
  readonly #tokens: TargetTokens;
  /** The number of generations that use each callee. */
  readonly #callees = new Map<string, number>();
  readonly events = new EventLog();
  #heldUntilMs = 0;
  #ejections = 0;
  #successes = 0;
  #failures = 0;
  #others = 0;

  constructor(
    target: Target,
    clock: Clock,
    book = new HealthBook(),
    tokens = new TargetTokens(clock),
    onClose: () => void = () => undefined,
  ) {
    this.target = target;
    this.slots = new Places(() => clock.monotonic());
    this.#clock = clock;
    this.#book = book;
    this.#onClose = onClose;
    this.#tokens = tokens;
  }

  /** Registers a generation's callee until `release`. */
  hold(callee: string): void {
    this.#callees.set(callee, (this.#callees.get(callee) ?? 0) + 1);
  }

  release(callee: string): void {
    const holders = (this.#callees.get(callee) ?? 0) - 1;
    if (holders > 0) this.#callees.set(callee, holders);
    else this.#callees.delete(callee);
  }

  /** Whether no request may be sent to it. */
  get isHeld(): boolean {
    return this.#heldUntilMs !== 0 && this.#clock.now() < this.#heldUntilMs;
  }

  /** Holds it until a time, milliseconds since 1970; `undefined` releases it. */
  holdUntil(untilMs: number | undefined): void {
    const wasHeld = this.isHeld;
    if (wasHeld && this.#heldUntilMs === untilMs) return;
    this.#heldUntilMs = untilMs ?? 0;
    if (untilMs !== undefined) this.events.add(this.#clock.now(), "held", { untilMs });
    else if (wasHeld) this.events.add(this.#clock.now(), "released");
  }

  /** Counts an attempt that has ended. */
  count(verdict: Verdict, called: Called, code: string | undefined, requestId: string): void {
    if (verdict === "success") this.#successes += 1;
    else if (verdict === "failure" || verdict === "credential") {
      this.#failures += 1;
      const { model, operation } = called;
      this.events.add(this.#clock.now(), "failed", { model, operation, code, requestId });
    } else this.#others += 1;
  }

  /**
   * Logs that a model or the credential was ejected, with the error code that caused it, or that it
   * recovered.
   */
  logChange(
    change: "ejected" | "recovered",
    { model, operation }: Called,
    log: Log,
    cause?: string,
  ): void {
    const { id } = this.target;
    if (change === "recovered") {
      this.events.add(this.#clock.now(), change, { model, operation });
      log.info("deployment recovered", { deployment: id, model, operation });
      return;
    }
    this.#ejections += 1;
    const { ejectedUntilMs: untilMs, isCredentialRefused: credential } = this.view();
    this.events.add(this.#clock.now(), change, { model, operation, code: cause, untilMs });
    const ejections = this.#ejections;
    log.warn("deployment ejected", {
      deployment: id,
      model,
      operation,
      cause,
      until: new Date(untilMs ?? 0).toISOString(),
      credential,
      ejections,
    });
  }

  /** Resets the health of its models and credentials. */
  reset(): void {
    this.#book.forget((called) => this.#calls(called));
    for (const callee of this.#callees.keys()) this.#book.credentialOf(callee)?.reset();
    this.events.add(this.#clock.now(), "reset");
  }

  view(): DeploymentView {
    const nowMs = this.#clock.monotonic();
    const untilOf = (breaker: Breaker): number | undefined =>
      breaker.openUntilMs === undefined
        ? undefined
        : this.#clock.now() + breaker.openUntilMs - nowMs;
    const records = this.#book.list((called) => this.#calls(called));
    const credentials = [...this.#callees.keys()].flatMap(
      (callee) => this.#book.credentialOf(callee)?.breaker ?? [],
    );
    const breakers = [...credentials, ...records.map(({ breaker }) => breaker)];
    const worst = breakers.toSorted((a, b) => STATES[b.state(nowMs)] - STATES[a.state(nowMs)])[0];
    const { id, provider, model } = this.target;
    return {
      id,
      provider,
      model,
      breaker: worst?.state(nowMs) ?? "closed",
      ejectedUntilMs: worst === undefined ? undefined : untilOf(worst),
      isCredentialRefused: credentials.some((breaker) => breaker.state(nowMs) !== "closed"),
      heldUntilMs: this.isHeld ? this.#heldUntilMs : undefined,
      models: unhealthy(records, nowMs, untilOf),
      ejections: this.#ejections,
      consecutiveFailures: Math.max(0, ...records.map(({ breaker }) => breaker.consecutive)),
      inFlight: this.slots.inFlight,
      queued: this.slots.queued,
      tokens: this.#tokens.view(this.target),
      latencyMs: newestLatency(records),
      successes: this.#successes,
      failures: this.#failures,
      others: this.#others,
    };
  }

  close(): void {
    this.#onClose();
  }

  #calls({ callee, model }: Called): boolean {
    return this.#callees.has(callee) && isModelOf(this.target.model, model);
  }
}

const STATES = { closed: 0, half_open: 1, open: 2 } as const;

/** The first records whose models are not healthy. */
function unhealthy(
  records: readonly Health[],
  nowMs: number,
  untilOf: (breaker: Breaker) => number | undefined,
): readonly ModelHealth[] {
  return records
    .filter(({ breaker }) => breaker.state(nowMs) !== "closed")
    .slice(0, MAX_SHOWN_MODELS)
    .map(({ called: { model, operation }, breaker }) => ({
      model,
      operation,
      breaker: breaker.state(nowMs),
      ejectedUntilMs: untilOf(breaker),
    }));
}

function newestLatency(records: readonly Health[]): number | undefined {
  const known = records
    .flatMap(({ stream, whole }) => [stream, whole])
    .filter(({ lastMs }) => lastMs !== undefined);
  return known.toSorted((a, b) => b.newestMs - a.newestMs)[0]?.lastMs;
}

/** The deployments of the process, in the order in which they came. */
export class Deployments implements DeploymentRegistry {
  readonly book = new HealthBook();
  readonly #open = new Map<string, Deployment>();
  readonly #tokens: TargetTokens;

  constructor(tokens: TargetTokens) {
    this.#tokens = tokens;
  }

  /** A new deployment, listed until it closes. */
  open(target: Target, clock: Clock): Deployment {
    const deployment = new Deployment(target, clock, this.book, this.#tokens, () => {
      if (this.#open.get(target.id) === deployment) this.#open.delete(target.id);
    });
    this.#open.set(target.id, deployment);
    return deployment;
  }

  list(): readonly DeploymentView[] {
    return [...this.#open.values()].map((deployment) => deployment.view());
  }

  reset(id: string): boolean {
    const deployment = this.#open.get(id);
    deployment?.reset();
    return deployment !== undefined;
  }

  hold(id: string, untilMs: number | undefined): boolean {
    const deployment = this.#open.get(id);
    deployment?.holdUntil(untilMs);
    return deployment !== undefined;
  }

  events(id: string): readonly DeploymentEvent[] {
    return this.#open.get(id)?.events.list() ?? [];
  }

  close(): void {
    this.#open.clear();
    this.book.close();
  }
}
