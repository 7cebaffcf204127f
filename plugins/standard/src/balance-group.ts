/** The targets of one model, and which of them can serve. */

import type { Holder, PlaceLimits } from "@sluice/kit/state";
import type { BalanceStrategy, Exchange } from "@sluice/spec";
import type { EjectionLimits } from "./balance-config.ts";
import { chooseMember, type ChoiceParts, type Member } from "./balance-strategies.ts";

/** A target of the group. */
export interface GroupMember extends Member {
  readonly limits: PlaceLimits;
}

/** What a group is asked. */
export interface GroupChoice extends ChoiceParts {
  readonly strategy: BalanceStrategy;
  /** The key that asks: it has a part of the slots. */
  readonly holder: Holder;
  /** Those that the exchange has tried already. */
  readonly tried: readonly GroupMember[];
  /** Those that other branches of the exchange have called: chosen when there is no other. */
  readonly avoided: ReadonlySet<GroupMember>;
  /** Whether a member without room will do, as long as its queue has. */
  readonly mayWait: boolean;
  /** Told of those that are passed over because they are ejected. */
  readonly exchange?: Pick<Exchange, "note">;
}

/** Time after which a model without room is worth another try. */
const NO_ROOM_MS = 1_000;

/** The members of one model, in the order of the file. */
export class BalanceGroup {
  readonly members: readonly GroupMember[];
  readonly #limits: EjectionLimits;

  constructor(members: readonly GroupMember[], limits: EjectionLimits) {
    this.members = members;
    this.#limits = limits;
  }

  /** The member to try next; `undefined` when none can take the request. */
  choose(choice: GroupChoice): GroupMember | undefined {
    const [only] = this.members;
    // The common case: one target, which can serve.
    if (only !== undefined && this.members.length === 1 && choice.tried.length === 0 && isFree(only, choice)) return only;
    const { exchange, holder } = choice;
    const admitted = this.#live(choice.nowMs);
    if (exchange !== undefined && admitted.length < this.members.length && choice.tried.length === 0) {
      const ejected = this.members.filter((member) => !admitted.includes(member));
      for (const { deployment } of ejected) exchange.note("balance", "ejected", deployment.target.id);
    }
    const live = admitted.filter((member) => !choice.tried.includes(member));
    let able = live.filter(({ deployment, limits }) => deployment.slots.hasRoom(holder, limits));
    if (able.length === 0 && choice.mayWait) {
      able = live.filter(({ deployment, limits }) => deployment.slots.hasQueue(holder, limits));
    }
    if (able.length === 0) return undefined;
    if (choice.avoided.size > 0) {
      const apart = able.filter((member) => !choice.avoided.has(member));
      if (apart.length > 0) able = apart;
    }
    const weighty = able.filter(({ weight }) => weight > 0);
    return chooseMember(weighty.length > 0 ? weighty : able, choice.strategy, choice) as GroupMember;
  }

  /** Whether a deployment that serves has slots free, which are kept for other keys. */
  isKeptForOthers(nowMs: number): boolean {
    return this.#live(nowMs).some(({ deployment, limits }) => deployment.slots.inFlight < limits.places);
  }

  /** When another try makes sense, in milliseconds from now: with the next probe, where none is live. */
  retryAfterMs(nowMs: number): number {
    if (this.#live(nowMs).length > 0) return NO_ROOM_MS;
    const waits = this.members.map(({ deployment }) => (deployment.breaker.openUntilMs ?? nowMs) - nowMs);
    return Math.max(NO_ROOM_MS, Math.min(...waits));
  }

  /** The members that are not ejected. Where too many are, those come back whose ejection ends first. */
  #live(nowMs: number): readonly GroupMember[] {
    const { members } = this;
    const ejected = members.filter(({ deployment }) => !deployment.breaker.isAdmitting(nowMs));
    if (ejected.length === 0) return members;
    const { maxEjected, ejectSingle } = this.#limits;
    const allowed = members.length === 1 ? Number(ejectSingle) : Math.floor(members.length * maxEjected);
    const untilMs = ({ deployment }: GroupMember): number => deployment.breaker.openUntilMs ?? 0;
    const kept = new Set(ejected.toSorted((a, b) => untilMs(b) - untilMs(a)).slice(0, allowed));
    return members.filter((member) => !kept.has(member));
  }
}

/** Whether a member can take a request at once. */
function isFree({ deployment, limits }: GroupMember, { nowMs, holder }: GroupChoice): boolean {
  return deployment.breaker.isAdmitting(nowMs) && deployment.slots.hasRoom(holder, limits);
}
