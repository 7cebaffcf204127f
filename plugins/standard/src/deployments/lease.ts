/** A lease: one exchange's use of a deployment, from the choice to the end of the attempts. */

import { defineSlot } from "@sluice/kit";
import { holderOf, parentOf } from "@sluice/kit/internals";
import type { AttemptObserver } from "@sluice/runtime/transport";
import type { Attempt, Exchange, Target } from "@sluice/contract";
import type { GroupMember } from "../balance/group.ts";
import { LeaseHealth, type LeaseTerms } from "./lease-health.ts";

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
