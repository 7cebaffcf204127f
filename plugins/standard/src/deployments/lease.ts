/**
 * A lease: one exchange's use of a deployment, from the choice to the end of the attempts. It
 * reports their verdicts to the health of the target.
 */

import { defineSlot } from "@sluice/kit";
import { holderOf, parentOf } from "@sluice/kit/internals";
import type { AttemptObserver } from "@sluice/runtime/transport";
import type { Attempt, Exchange, Target, Clock, Log } from "@sluice/contract";
import type { GroupMember } from "../balance/group.ts";
import { requestDigest } from "@sluice/runtime";
import type { BreakerChange, BreakerSettings, Failed, Standing } from "./breaker.ts";
import type { Trial } from "./breaker-trials.ts";
import { hasReadyStandIn } from "../retry/attempt-budget.ts";
import type { Called, Health, HealthBook } from "./health.ts";
import { isAfterHead, isForced, isUnknownCredential, verdictOf } from "./verdict.ts";

/** The choice that a lease comes from. */
export interface LeaseOwner {
  readonly exchange: Exchange;
  /** Whether another target can take the request now. */
  readonly hasOther: boolean;
  /** Whether the member still takes requests. */
  isServing(member: GroupMember): boolean;
}

/** The active leases of an exchange and its branches. */
const LEASES = defineSlot<Lease[]>("leases");

/** The current lease of an exchange, or of its parent. */
export function leaseOf(exchange: Exchange): Lease | undefined {
  const leases = LEASES.get(exchange);
  if (leases === undefined) return undefined;
  for (let at: Exchange | undefined = exchange; at !== undefined; at = parentOf(at)) {
    const lease = leases.findLast(({ exchange: own }) => own === at);
    if (lease !== undefined) return lease;
  }
  return undefined;
}

/** Holds a slot, and a trial if there is one. Exactly one of `fail` and `succeed` ends it. */
export class Lease {
  readonly exchange: Exchange;
  readonly #owner: LeaseOwner;
  readonly #member: GroupMember;
  readonly #health: LeaseHealth;
  /** The index of the lease's first attempt. */
  readonly #from: number;

  /**
   * The owner has taken the member's slot. `target` is the called one: the concrete one of a
   * wildcard.
   */
  constructor(terms: LeaseTerms, owner: LeaseOwner, member: GroupMember, target: Target) {
    const { exchange } = owner;
    this.exchange = exchange;
    this.#owner = owner;
    this.#member = member;
    this.#from = exchange.attempts.length;
    this.#health = new LeaseHealth(terms, member, target, exchange);
    const leases = LEASES.get(exchange);
    if (leases === undefined) LEASES.set(exchange, [this]);
    else leases.push(this);
  }

  /**
   * Whether the target may be called after a wait: it was not ejected meanwhile, or this is its
   * trial.
   */
  get mayCall(): boolean {
    return this.#health.isTrial || this.mayRepeat;
  }

  /**
   * Whether the same target may be called once more: it is not ejected, and no trial of it has
   * failed.
   */
  get mayRepeat(): boolean {
    return this.#owner.isServing(this.#member);
  }

  /**
   * Whether this is a trial with a short limit. Every fourth trial has its full time, for a target
   * that became slow.
   */
  get isShortTrial(): boolean {
    return this.#health.isShortTrial;
  }

  /** The last known time to first content of the target's streams. */
  get streamMs(): number | undefined {
    return this.#health.streamMs;
  }

  /** Whether another target can take the request now. */
  get hasOther(): boolean {
    return this.#owner.hasOther;
  }

  /** Observes one attempt. */
  watch(attempt: Attempt): AttemptObserver {
    return this.#health.watch(attempt);
  }

  /** Ends the lease without a reply. */
  fail(): void {
    this.#end(this.exchange.attempts.length);
  }

  /**
   * Ends the lease with a reply. A reply that is not whole yet keeps the slot to the end of the
   * exchange.
   */
  succeed(): void {
    const { attempts, lifetime, reply } = this.exchange;
    const to = attempts.length;
    const last = to > this.#from ? attempts[to - 1] : undefined;
    if (last?.upstreamMs !== undefined) this.#health.measure(last.upstreamMs);
    if (reply === undefined || reply.kind === "whole") {
      this.#end(to);
      return;
    }
    // The attempt has content.
    if (last !== undefined) this.#health.answer();
    lifetime.onSettle(() => this.#end(to));
  }

  #end(to: number): void {
    const { attempts, identity } = this.exchange;
    this.#health.end(attempts.slice(this.#from, to));
    this.#member.deployment.slots.release(holderOf(identity));
    const leases = LEASES.get(this.exchange) as Lease[];
    leases.splice(leases.indexOf(this), 1);
  }
}

/** What all leases of a step share. */
export interface LeaseTerms {
  readonly settings: BreakerSettings;
  readonly book: HealthBook;
  readonly log: Log;
  readonly clock: Clock;
}

/** Every fourth trial has its full time, for a target that became slow. */
const FULL_TRIAL_EVERY = 4;

/** Reports one lease's attempts to the breakers of the called model and of its credential. */
class LeaseHealth {
  readonly #terms: LeaseTerms;
  readonly #member: GroupMember;
  readonly #exchange: Exchange;
  readonly #called: Called;
  readonly #name: string;
  readonly #key: string;
  readonly #startedMs: number;
  readonly #reported: Attempt[] = [];
  readonly #trial: Trial | undefined;
  readonly #credentialTrial: Trial | undefined;

  /** Enters both breakers. `target` is the concrete one of a wildcard. */
  constructor(terms: LeaseTerms, member: GroupMember, target: Target, exchange: Exchange) {
    const { book, clock } = terms;
    this.#terms = terms;
    this.#member = member;
    this.#exchange = exchange;
    this.#called = { callee: member.callee, model: target.model, operation: exchange.operation };
    this.#name = book.nameOf(member.callee, exchange.operation, target.model);
    this.#key = exchange.identity?.keyId ?? "";
    this.#startedMs = clock.monotonic();
    this.#trial = this.#known?.breaker.enter(this.#startedMs, this.#key);
    this.#credentialTrial = member.credential.breaker.enter(this.#startedMs, this.#key);
  }

  get isTrial(): boolean {
    return this.#trial !== undefined || this.#credentialTrial !== undefined;
  }

  /** Whether this is a trial with a short limit. */
  get isShortTrial(): boolean {
    const ejections = this.#known?.breaker.ejectionsInRow ?? 0;
    return this.#trial !== undefined && ejections % FULL_TRIAL_EVERY !== 0;
  }

  /** The last known time to first content of the target's streams. */
  get streamMs(): number | undefined {
    return this.#known?.latencyOf(true).lastMs;
  }

  /** Observes one attempt, which begins now. */
  watch(attempt: Attempt): AttemptObserver {
    const startedMs = this.#terms.clock.monotonic();
    return new WatchedAttempt(this, attempt, { key: this.#key, startedMs, trial: this.#trial });
  }

  /** Records the time to the first content of a reply. */
  measure(upstreamMs: number): void {
    this.#open()
      .latencyOf(this.#exchange.request?.stream === true)
      .observe(upstreamMs, this.#key, this.#terms.clock.monotonic());
  }

  /** Records the head of a response. */
  begin(at: Standing): void {
    const nowMs = this.#terms.clock.monotonic();
    this.#accept(at, nowMs);
    this.#logChange(this.#known?.breaker.begin(at, nowMs));
  }

  /** Records that the target works: content came, or the upstream refused the request. */
  answer(at: Standing = this.#standing): void {
    const nowMs = this.#terms.clock.monotonic();
    this.#accept(at, nowMs);
    this.#logChange(this.#known?.breaker.answer(at, nowMs));
  }

  /** Counts an attempt that has ended. A model that does not exist leaves no record. */
  report(attempt: Attempt, at: Standing): void {
    this.#reported.push(attempt);
    const { settings, clock } = this.#terms;
    const nowMs = clock.monotonic();
    const verdict = verdictOf(attempt);
    const code = attempt.error?.code;
    this.#member.deployment.count(verdict, this.#called, code, this.#exchange.id);
    switch (verdict) {
      case "success":
        this.#accept(at, nowMs);
        this.#logChange(this.#open().breaker.succeed(at, nowMs));
        return;
      case "failure": {
        const failed = failureOf(attempt, at, this.#exchange);
        const change = this.#open().breaker.fail(failed, nowMs, settings);
        this.#logChange(change, attempt.error?.code);
        return;
      }
      case "credential":
        this.#refuseCredential(attempt, at, nowMs);
        return;
      case "limited":
        this.answer(at);
        this.#open().limit(nowMs, attempt.error?.retryAfterMs);
        return;
      case "refused":
        this.answer(at);
        return;
      case "nothing":
        return;
      default:
        verdict satisfies never;
    }
  }

  /** Counts the attempts of the lease that were not counted yet, and ends its trials. */
  end(attempts: readonly Attempt[]): void {
    const at = this.#standing;
    for (const attempt of attempts) if (!this.#reported.includes(attempt)) this.report(attempt, at);
    if (this.#trial !== undefined) this.#known?.breaker.leave(this.#trial);
    if (this.#credentialTrial !== undefined)
      this.#member.credential.breaker.leave(this.#credentialTrial);
  }

  /** The record of the called model; `undefined` before its first verdict. */
  get #known(): Health | undefined {
    return this.#terms.book.find(this.#name);
  }

  #open(): Health {
    return this.#terms.book.open(this.#name, this.#called);
  }

  get #standing(): Standing {
    return { key: this.#key, startedMs: this.#startedMs, trial: this.#trial };
  }

  #accept({ key, startedMs }: Standing, nowMs: number): void {
    const at = { key, startedMs, trial: this.#credentialTrial };
    this.#logChange(this.#member.credential.accept(at, nowMs));
  }

  /** Counts a refusal that may not concern the credential as a failure of the model. */
  #refuseCredential(attempt: Attempt, at: Standing, nowMs: number): void {
    const { settings } = this.#terms;
    const { model } = this.#called;
    const isUnknown = isUnknownCredential(attempt);
    const code = attempt.error?.code;
    const failed = failureOf(attempt, at, this.#exchange);
    const refusal = { ...failed, trial: this.#credentialTrial, model, isUnknown };
    this.#logChange(this.#member.credential.refuse(refusal, nowMs, settings), code);
    if (!isUnknown) this.#logChange(this.#open().breaker.fail(failed, nowMs, settings), code);
  }

  /** One log line for each ejection and each recovery. */
  #logChange(change: BreakerChange, cause?: string): void {
    if (change !== undefined)
      this.#member.deployment.logChange(change, this.#called, this.#terms.log, cause);
  }
}

/** A failed attempt, as the breakers count it. */
function failureOf(attempt: Attempt, at: Standing, exchange: Exchange): Failed {
  return {
    ...at,
    body: requestDigest(exchange.request),
    isForced: isForced(attempt),
    isAfterHead: isAfterHead(attempt),
    isCut: attempt.firstContentAtMs !== undefined,
    isReplaceable: hasReadyStandIn(exchange),
    retryAfterMs: attempt.error?.retryAfterMs,
  };
}

/** Reports the progress of one attempt. */
class WatchedAttempt implements AttemptObserver {
  readonly #health: LeaseHealth;
  readonly #attempt: Attempt;
  readonly #at: Standing;

  constructor(health: LeaseHealth, attempt: Attempt, at: Standing) {
    this.#health = health;
    this.#attempt = attempt;
    this.#at = at;
  }

  answered(): void {
    this.#health.begin(this.#at);
  }

  ended(): void {
    this.#health.report(this.#attempt, this.#at);
  }
}
