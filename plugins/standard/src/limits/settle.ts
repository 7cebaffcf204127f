/** Settle: ends the reservations of one exchange with what it used. */

import type { Admission, Attempt, Claim, Exchange, Reservation } from "@sluice/contract";
import type { AdmittedCalls } from "./admitted-calls.ts";
import type { KeyPart } from "./part.ts";
import type { LeaseParts } from "./parts.ts";
import { claimOf, type Rule } from "./rules/rule.ts";

/** One reservation and the rules of its claims, in their order. */
export interface Reserved {
  readonly reservation: Reservation;
  readonly rules: readonly Rule[];
  /** What counts of the key's share of each limit, in the order of the claims. */
  readonly counted: readonly number[];
  /** The call that it was taken for. Absent: the whole exchange. */
  readonly admission: Admission | undefined;
}

/** Ends reservations, after the spend rows are recorded. Logs a settlement that fails. */
export function settleReservations(
  reserved: readonly Reserved[],
  exchange: Exchange,
  calls: AdmittedCalls,
  part: KeyPart,
  { host, tokens }: LeaseParts,
): void {
  const booked = new Set<string>();
  for (const one of reserved) {
    const { reservation, rules, counted } = one;
    part.giveBack(rules, counted);
    const claims = rules.map((rule, index) =>
      settledClaim(rule, reservation.claims[index], one, exchange, calls, booked),
    );
    tokens.settle(rules, reservation.claims, claims);
    const settled = host.state.settle({ id: reservation.id, claims });
    if (settled instanceof Promise) {
      settled.catch((error: unknown) => {
        host.log.error("a reservation could not be settled", { request_id: exchange.id, error });
      });
    }
  }
}

/**
 * A claim with the amount that was used. `booked`: the budgets whose whole cost an earlier
 * reservation has booked.
 */
function settledClaim(
  rule: Rule,
  taken: Claim | undefined,
  { admission }: Reserved,
  { attempts }: Exchange,
  calls: AdmittedCalls,
  booked: Set<string>,
): Claim {
  if (rule.kind === "budget") {
    const isBooked = booked.has(rule.key);
    booked.add(rule.key);
    return claimOf(rule, 0, isBooked ? 0 : calls.spent(rule.provider));
  }
  if (rule.kind !== "tokens" || taken?.kind !== "window") return claimOf(rule, 0, 0);
  const own = admission === undefined ? undefined : calls.attemptOf(admission);
  const used = admission === undefined ? attempts : own === undefined ? [] : [own];
  return claimOf(rule, tokensUsed(used, taken.amount), 0);
}

/** The tokens of attempts. Where a reply reports none, what was taken stays taken. */
function tokensUsed(attempts: readonly Attempt[], taken: number): number {
  let sum = 0;
  for (const { usage, outcome } of attempts) {
    if (usage !== undefined) sum += usage.totalTokens;
    else if (outcome !== "failure") return taken;
  }
  return sum;
}
