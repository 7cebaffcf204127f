/** The strategies, which choose the member that serves a request. */

import type { BalanceStrategy } from "@sluice/contract";
import { rendezvousScore } from "./sticky.ts";
import type { Deployment } from "../deployments/deployment.ts";

/** One target of a model, as strategies see it. */
export interface Member {
  readonly deployment: Deployment;
  readonly weight: number;
  readonly priority: number;
  /** The price of a token, for comparison; `Infinity` when it is unknown. */
  readonly cost: number;
  /** The state of the smooth weighted choice. */
  turn: number;
}

/** The inputs of a choice besides the members. */
export interface ChoiceParts {
  /** The sticky key; `undefined` without one. */
  readonly stickyKey: string | undefined;
  /**
   * The expected time to first content of a member, in milliseconds; `undefined` without samples.
   */
  readonly latencyOf: (member: Member) => number | undefined;
}

/** The assumed latency of a member that has a request and no sample yet. */
const UNMEASURED_MS = 1e9;

/** Chooses one of the members. Equal members share by their weights. */
export function chooseMember(
  members: readonly Member[],
  strategy: BalanceStrategy,
  parts: ChoiceParts,
): Member {
  const { latencyOf, stickyKey } = parts;
  switch (strategy) {
    case "weighted":
      return nextInTurn(members);
    case "priority":
      return leastOf(members, ({ priority }) => priority);
    case "least_busy":
      return leastOf(members, ({ deployment: { slots } }) => slots.inFlight + slots.queued);
    case "lowest_latency":
      return leastOf(members, (member) => latencyCost(member.deployment, latencyOf(member)));
    case "lowest_cost":
      return leastOf(members, ({ cost }) => cost);
    case "sticky":
      if (stickyKey === undefined) return nextInTurn(members);
      return leastOf(
        members,
        ({ deployment, weight }) => -rendezvousScore(stickyKey, deployment.target.id, weight),
      );
    default:
      return strategy satisfies never;
  }
}

/**
 * The expected wait: each running request makes it longer. One request tries an unmeasured
 * deployment.
 */
function latencyCost({ slots }: Deployment, averageMs: number | undefined): number {
  if (averageMs === undefined) return slots.inFlight === 0 ? 0 : UNMEASURED_MS * slots.inFlight;
  return averageMs * (slots.inFlight + 1);
}

function leastOf(members: readonly Member[], measure: (member: Member) => number): Member {
  let least = Infinity;
  let equals: Member[] = [];
  for (const member of members) {
    const value = measure(member);
    if (value < least || equals.length === 0) {
      least = value;
      equals = [member];
    } else if (value === least) {
      equals.push(member);
    }
  }
  return nextInTurn(equals);
}

/**
 * The smooth weighted choice of nginx: shares are exact, and the heavy ones are spread over the
 * turns.
 */
function nextInTurn(members: readonly Member[]): Member {
  const [first] = members as readonly [Member, ...Member[]];
  if (members.length === 1) return first;
  // Members without a weight are candidates only when no other is. They then share equally.
  const isWeightless = members.every(({ weight }) => weight === 0);
  let total = 0;
  let next = first;
  for (const member of members) {
    const weight = isWeightless ? 1 : member.weight;
    member.turn += weight;
    total += weight;
    if (member.turn > next.turn) next = member;
  }
  next.turn -= total;
  return next;
}
