/** The targets of one model, and which of them can serve. */

import type { Holder, PlaceLimits } from "@sluice/kit/internals";
import type { BalanceStrategy, Exchange, Operation, Target } from "@sluice/contract";
import type { EjectionLimits } from "./config.ts";
import { chooseMember, type ChoiceParts, type Member } from "./strategies.ts";
import type { CredentialHealth } from "../deployments/credential-health.ts";
import type { Health, HealthBook } from "../deployments/health.ts";

/** A target of the group. */
export interface GroupMember extends Member {
  readonly limits: PlaceLimits;
  /** A digest of its provider's address and credential. */
  readonly callee: string;
  readonly credential: CredentialHealth;
}

/** The request that a choice is for. */
export interface GroupRequest {
  /**
   * The target of each member in this request: a wildcard's targets have the request's own model.
   */
  readonly targets: readonly Target[];
  readonly operation: Operation;
  readonly isStream: boolean;
  /** The key of the request: it has a part of the slots. */
  readonly holder: Holder;
  /** The members that the request may not have: their targets are not those of its model. */
  readonly leftOut: readonly GroupMember[];
}

/** Parameters of a choice. */
export interface GroupChoice extends Pick<ChoiceParts, "stickyKey"> {
  readonly nowMs: number;
  readonly request: GroupRequest;
  readonly strategy: BalanceStrategy;
  /** Members that the exchange has tried. */
  readonly tried: readonly GroupMember[];
  /** Members that other branches of the exchange have called: the last choice. */
  readonly avoided: ReadonlySet<GroupMember>;
  /** The id of the target that made the reasoning which the request holds. Absent: none. */
  readonly thinker?: string | undefined;
  /** Whether a member without a free slot qualifies while its queue has a place. */
  readonly mayWait: boolean;
  /** The exchange whose explanation lists the skipped, ejected members. */
  readonly exchange?: Pick<Exchange, "note">;
}

/** Retry-After of a model without free slots. */
const NO_ROOM_MS = 1_000;

/** The members of one model, in the order of the file. */
export class BalanceGroup {
  readonly members: readonly GroupMember[];
  readonly #limits: EjectionLimits;
  readonly #book: HealthBook;

  constructor(members: readonly GroupMember[], limits: EjectionLimits, book: HealthBook) {
    this.members = members;
    this.#limits = limits;
    this.#book = book;
  }

  /** The member to try next; `undefined` when none can take the request. */
  choose(choice: GroupChoice): GroupMember | undefined {
    const [only] = this.members;
    const { exchange, nowMs, request } = choice;
    // The common case: one target, which can serve.
    if (only !== undefined && this.members.length === 1 && choice.tried.length === 0) {
      if (
        this.#isAdmitting(only, request, nowMs) &&
        only.deployment.slots.hasRoom(request.holder, only.limits)
      )
        return only;
    }
    const admitted = this.#live(nowMs, request, true);
    const members = this.#membersOf(request);
    if (admitted.length < members.length && choice.tried.length === request.leftOut.length) {
      for (const member of members) {
        if (admitted.includes(member)) continue;
        exchange?.note("balance", "ejected", member.deployment.target.id);
        this.#healthOf(member, request)?.breaker.knock(nowMs, request.holder.key);
        member.credential.breaker.knock(nowMs, request.holder.key);
      }
    }
    const live = admitted.filter((member) => !choice.tried.includes(member));
    let able: readonly GroupMember[] = live.filter(({ deployment, limits }) =>
      deployment.slots.hasRoom(request.holder, limits),
    );
    if (able.length === 0 && choice.mayWait)
      able = live.filter(({ deployment, limits }) =>
        deployment.slots.hasQueue(request.holder, limits),
      );
    if (able.length === 0) return undefined;
    able = preferred(able, (member) => !choice.avoided.has(member));
    // Members without a rate limit come first. If all have one, the upstream answers with its own
    // 429.
    able = preferred(able, (member) => this.#healthOf(member, request)?.isLimited(nowMs) !== true);
    able = preferred(able, ({ weight }) => weight > 0);
    const { stickyKey, strategy, thinker } = choice;
    if (thinker !== undefined)
      able = preferred(
        able,
        (member) => request.targets[this.members.indexOf(member)]?.id === thinker,
      );
    const latencyOf = (member: Member): number | undefined =>
      this.#healthOf(member as GroupMember, request)
        ?.latencyOf(request.isStream)
        .faded(nowMs, request.holder.key);
    return chooseMember(able, strategy, { stickyKey, latencyOf }) as GroupMember;
  }

  /** Whether a request may still go to a member. */
  isServing(member: GroupMember, request: GroupRequest, nowMs: number): boolean {
    return this.#live(nowMs, request, false).includes(member);
  }

  /** Whether a member that was not tried can take a request now. */
  hasOther(tried: readonly GroupMember[], request: GroupRequest, nowMs: number): boolean {
    if (this.members.length === 1) return false;
    return this.#live(nowMs, request, false).some(
      (member) =>
        !tried.includes(member) && member.deployment.slots.hasRoom(request.holder, member.limits),
    );
  }

  /** Whether a live deployment has free slots that are reserved for other keys. */
  isKeptForOthers(nowMs: number, request: GroupRequest): boolean {
    return this.#live(nowMs, request, false).some(
      ({ deployment, limits }) => deployment.slots.inFlight < limits.places,
    );
  }

  /** Milliseconds until a retry can succeed: the next trial, when no member is live. */
  retryAfterMs(nowMs: number, request: GroupRequest): number {
    if (this.#live(nowMs, request, false).length > 0) return NO_ROOM_MS;
    return Math.max(
      NO_ROOM_MS,
      Math.min(...this.#membersOf(request).map((member) => this.#waitMs(member, request, nowMs))),
    );
  }

  /**
   * The members that are not ejected. If too many are, those with the earliest end of their
   * ejection return.
   */
  #live(nowMs: number, request: GroupRequest, isChoice: boolean): readonly GroupMember[] {
    const members = this.#membersOf(request);
    const ejected = members.filter((member) => !this.#isAdmitting(member, request, nowMs));
    if (ejected.length === 0) return members;
    const [only] = members;
    const { maxEjected, ejectSingle } = this.#limits;
    if (members.length === 1 && only !== undefined) {
      const isThrough = isChoice && this.#healthOf(only, request)?.breaker.letsThrough() === true;
      return ejectSingle && !isThrough ? [] : members;
    }
    const allowed = Math.floor(members.length * maxEjected);
    const waits = new Map(ejected.map((member) => [member, this.#waitMs(member, request, nowMs)]));
    const kept = new Set(
      ejected.toSorted((a, b) => (waits.get(b) ?? 0) - (waits.get(a) ?? 0)).slice(0, allowed),
    );
    return members.filter((member) => !kept.has(member));
  }

  #membersOf({ leftOut }: GroupRequest): readonly GroupMember[] {
    return leftOut.length === 0
      ? this.members
      : this.members.filter((member) => !leftOut.includes(member));
  }

  #isAdmitting(member: GroupMember, request: GroupRequest, nowMs: number): boolean {
    if (!member.credential.breaker.isAdmitting(nowMs, request.holder.key)) return false;
    const health = this.#healthOf(member, request);
    return health === undefined || health.breaker.isAdmitting(nowMs, request.holder.key);
  }

  #waitMs(member: GroupMember, request: GroupRequest, nowMs: number): number {
    const { key } = request.holder;
    const waitMs = this.#healthOf(member, request)?.breaker.waitMs(nowMs, key) ?? 0;
    return Math.max(waitMs, member.credential.breaker.waitMs(nowMs, key));
  }

  #healthOf(member: GroupMember, { targets, operation }: GroupRequest): Health | undefined {
    const model = targets[this.members.indexOf(member)]?.model ?? member.deployment.target.model;
    return this.#book.find(this.#book.nameOf(member.callee, operation, model));
  }
}

/** The members that match, or all when none does. */
function preferred(
  members: readonly GroupMember[],
  isPreferred: (member: GroupMember) => boolean,
): readonly GroupMember[] {
  if (members.length === 1) return members;
  const some = members.filter(isPreferred);
  return some.length > 0 ? some : members;
}
