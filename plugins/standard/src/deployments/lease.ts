/** A lease: one exchange's use of a deployment, from the choice to the end of the attempts. */

import { defineSlot } from "@sluice/kit";
import { requestDigest } from "@sluice/runtime";
import { holderOf, parentOf } from "@sluice/kit/internals";
import type { AttemptObserver } from "@sluice/runtime/transport";
import type { Attempt, Exchange, Log, Target } from "@sluice/contract";
import type { BreakerChange, BreakerSettings, Standing, Trial } from "./breaker.ts";
import type { GroupMember } from "../balance/group.ts";
import { isAfterHead, isForced, isUnknownCredential, verdictOf } from "./verdict.ts";
import { hasReadyStandIn } from "../retry/attempt-budget.ts";
import type { Called, Health, HealthBook } from "./health.ts";

/** The parts of a lease. Its holder has taken the slot. */
export interface LeaseParts {
  readonly member: GroupMember;
  /** The called target: the concrete one of a wildcard. */
  readonly target: Target;
  readonly exchange: Exchange;
  readonly settings: BreakerSettings;
  readonly book: HealthBook;
  readonly log: Log;
  readonly now: () => number;
  /** Whether the member still takes requests. */
  readonly isServing: () => boolean;
  /** Whether another target can take the request now. */
  readonly hasOther: () => boolean;
}

const FULL_TRIAL_EVERY = 4;

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
  readonly #parts: LeaseParts;
  readonly #name: string;
  readonly #called: Called;
  readonly #key: string;
  /** The index of the lease's first attempt. */
  readonly #from: number;
  readonly #startedMs: number;
  readonly #reported: Attempt[] = [];
  #trial: Trial | undefined;
  #credentialTrial: Trial | undefined;

  constructor(parts: LeaseParts) {
    const { member, target, exchange, book } = parts;
    this.#parts = parts;
    this.#key = exchange.identity?.keyId ?? "";
    this.#called = { callee: member.callee, model: target.model, operation: exchange.operation };
    this.#name = book.nameOf(member.callee, exchange.operation, target.model);
    this.#from = exchange.attempts.length;
    this.#startedMs = parts.now();
    this.#trial = book.find(this.#name)?.breaker.enter(this.#startedMs, this.#key);
    this.#credentialTrial = member.credential.breaker.enter(this.#startedMs, this.#key);
    const leases = LEASES.get(exchange);
    if (leases === undefined) LEASES.set(exchange, [this]);
    else leases.push(this);
  }

  get exchange(): Exchange {
    return this.#parts.exchange;
  }

  /** Whether the target may be called after a wait: it was not ejected meanwhile, or this is its trial. */
  get mayCall(): boolean {
    return this.#trial !== undefined || this.#credentialTrial !== undefined || this.#parts.isServing();
  }

  /** Whether the same target may be called once more: it is not ejected, and no trial of it has failed. */
  get mayRepeat(): boolean {
    return this.#parts.isServing();
  }

  /** Whether this is a trial with a short limit. Every fourth trial has its full time, for a target that became slow. */
  get isShortTrial(): boolean {
    return this.#trial !== undefined && (this.#parts.book.find(this.#name)?.breaker.ejectionsInRow ?? 0) % FULL_TRIAL_EVERY !== 0;
  }

  /** The last known time to first content of the target's streams. */
  get streamMs(): number | undefined {
    return this.#parts.book.find(this.#name)?.latencyOf(true).lastMs;
  }

  /** Whether another target can take the request now. */
  get hasOther(): boolean {
    return this.#parts.hasOther();
  }

  /** Observes one attempt. */
  watch(attempt: Attempt): AttemptObserver {
    const at: Standing = { key: this.#key, startedMs: this.#parts.now(), trial: this.#trial };
    return {
      answered: () => this.#begin(at),
      ended: () => this.#report(attempt, at),
    };
  }

  /** Ends the lease without a reply. */
  fail(): void {
    this.#end(this.#parts.exchange.attempts.length);
  }

  /** Ends the lease with a reply. A reply that is not whole yet keeps the slot to the end of the exchange. */
  succeed(): void {
    const { exchange, now } = this.#parts;
    const to = exchange.attempts.length;
    const last = to > this.#from ? exchange.attempts[to - 1] : undefined;
    if (last?.upstreamMs !== undefined) {
      this.#open()
        .latencyOf(exchange.request?.stream === true)
        .observe(last.upstreamMs, this.#key, now());
    }
    if (exchange.reply === undefined || exchange.reply.kind === "whole") {
      this.#end(to);
      return;
    }
    // The attempt has content.
    const at: Standing = { key: this.#key, startedMs: this.#startedMs, trial: this.#trial };
    if (last !== undefined) this.#answer(at);
    exchange.lifetime.onSettle(() => this.#end(to));
  }

  #open(): Health {
    return this.#parts.book.open(this.#name, this.#called);
  }

  /** Records the head of a response. It is no proof for a target whose streams failed behind their heads. */
  #begin(at: Standing): void {
    const nowMs = this.#parts.now();
    this.#logChange(this.#parts.member.credential.accept(this.#ofCredential(at), nowMs));
    this.#logChange(this.#parts.book.find(this.#name)?.breaker.begin(at, nowMs));
  }

  #answer(at: Standing): void {
    const nowMs = this.#parts.now();
    this.#logChange(this.#parts.member.credential.accept(this.#ofCredential(at), nowMs));
    this.#logChange(this.#parts.book.find(this.#name)?.breaker.answer(at, nowMs));
  }

  #ofCredential(at: Standing): Standing {
    return { ...at, trial: this.#credentialTrial };
  }

  /** Counts an attempt that has ended. A model that does not exist leaves no record. */
  #report(attempt: Attempt, at: Standing): void {
    this.#reported.push(attempt);
    const { member, settings, now } = this.#parts;
    const nowMs = now();
    const verdict = verdictOf(attempt);
    member.deployment.count(verdict);
    switch (verdict) {
      case "success":
        this.#logChange(member.credential.accept(this.#ofCredential(at), nowMs));
        this.#logChange(this.#open().breaker.succeed(at, nowMs));
        return;
      case "failure":
        this.#logChange(this.#open().breaker.fail(this.#failed(attempt, at), nowMs, settings), attempt.error?.code);
        return;
      case "credential":
        this.#refuseCredential(attempt, at);
        return;
      case "limited":
        this.#answer(at);
        this.#open().limit(nowMs, attempt.error?.retryAfterMs);
        return;
      case "refused":
        this.#answer(at);
        return;
      case "nothing":
        return;
      default:
        verdict satisfies never;
    }
  }

  /** Counts a refusal that may not concern the credential as a failure of the model. */
  #refuseCredential(attempt: Attempt, at: Standing): void {
    const { member, settings, now } = this.#parts;
    const nowMs = now();
    const isUnknown = isUnknownCredential(attempt);
    const failed = this.#failed(attempt, at);
    const refusal = { ...failed, trial: this.#credentialTrial, model: this.#called.model, isUnknown };
    this.#logChange(member.credential.refuse(refusal, nowMs, settings), attempt.error?.code);
    if (!isUnknown) this.#logChange(this.#open().breaker.fail(failed, nowMs, settings), attempt.error?.code);
  }

  #failed(attempt: Attempt, at: Standing) {
    return {
      ...at,
      body: requestDigest(this.#parts.exchange.request),
      isForced: isForced(attempt),
      isAfterHead: isAfterHead(attempt),
      isCut: attempt.firstContentAtMs !== undefined,
      isReplaceable: hasReadyStandIn(this.#parts.exchange),
      retryAfterMs: attempt.error?.retryAfterMs,
    };
  }

  #end(to: number): void {
    const { member, exchange, book } = this.#parts;
    const at: Standing = { key: this.#key, startedMs: this.#startedMs, trial: this.#trial };
    for (const attempt of exchange.attempts.slice(this.#from, to)) {
      if (!this.#reported.includes(attempt)) this.#report(attempt, at);
    }
    if (this.#trial !== undefined) book.find(this.#name)?.breaker.leave(this.#trial);
    if (this.#credentialTrial !== undefined) member.credential.breaker.leave(this.#credentialTrial);
    member.deployment.slots.release(holderOf(exchange.identity));
    const leases = LEASES.get(exchange) as Lease[];
    leases.splice(leases.indexOf(this), 1);
  }

  /** One log line for each ejection and each recovery. */
  #logChange(change: BreakerChange, cause?: string): void {
    if (change === undefined) return;
    const { member, log, target, exchange } = this.#parts;
    const { deployment } = member;
    const fields = { deployment: deployment.target.id, model: target.model, operation: exchange.operation };
    if (change === "recovered") {
      log.info("deployment recovered", fields);
      return;
    }
    deployment.countEjection();
    const { ejectedUntilMs, isCredentialRefused } = deployment.view();
    const until = new Date(ejectedUntilMs ?? 0).toISOString();
    log.warn("deployment ejected", { ...fields, cause, until, credential: isCredentialRefused, ejections: deployment.ejections });
  }
}
