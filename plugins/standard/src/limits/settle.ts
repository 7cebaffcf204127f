/** Settle: ends the reservations of one exchange with what its admitted calls used and cost. */

import type { Admission, Attempt, Claim, Exchange, Model, Reservation } from "@sluice/contract";
import type { KeyPart } from "./key-share.ts";
import type { LeaseParts } from "./parts.ts";
import { type BudgetRule, claimOf, type Rule } from "./rules/rule.ts";
import { namesModel, priceAttempt } from "@sluice/runtime";
import { knownCost } from "./estimate.ts";

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
    return claimOf(rule, 0, isBooked ? 0 : calls.spent(rule));
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

/** Sums what admitted calls have cost or may still cost. Amounts are nano-dollars. */
export class AdmittedCalls {
  readonly #exchange: Exchange;
  #calls: Map<Admission, AdmittedCall> | undefined;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Adds a call with its maximum cost. */
  add(admission: Admission, maxNanoUsd: number, model: Model | undefined): void {
    (this.#calls ??= new Map()).set(admission, { maxNanoUsd, model });
  }

  /** Removes a call that was refused after all. */
  dismiss(admission: Admission): void {
    this.#calls?.delete(admission);
  }

  /**
   * The cost of all calls, or of those that count for a budget. The maximum stands for a cost that
   * is not known yet.
   */
  committed(budget?: CountedCalls): number {
    let sum = 0;
    for (const [admission, { maxNanoUsd, model }] of this.#calls ?? []) {
      if (!isCounted(budget, admission.target.provider, model)) continue;
      const attempt = this.attemptOf(admission);
      sum += (attempt === undefined ? undefined : this.#known(attempt)) ?? maxNanoUsd;
    }
    return sum;
  }

  /**
   * The cost of the attempts that count for a budget. The maximum stands for a cost that stays
   * unknown.
   */
  spent(budget: CountedCalls): number {
    let sum = 0;
    for (const attempt of this.#exchange.attempts) {
      if (!isCounted(budget, attempt.target.provider, attempt.model)) continue;
      sum += this.#known(attempt) ?? this.#maxOf(attempt);
    }
    return sum;
  }

  /** The attempt of a call; `undefined` where none was dispatched. */
  attemptOf(admission: Admission): Attempt | undefined {
    return this.#exchange.attempts.find((attempt) => attempt.admission === admission);
  }

  #known(attempt: Attempt): number | undefined {
    return knownCost(attempt, () => priceAttempt(this.#exchange, attempt));
  }

  #maxOf({ admission }: Attempt): number {
    return (admission === undefined ? undefined : this.#calls?.get(admission))?.maxNanoUsd ?? 0;
  }
}

/** Which calls count for a budget. */
type CountedCalls = Pick<BudgetRule, "provider" | "models">;

/** An admitted call: its maximum cost, and the model of the exchange at its time. */
interface AdmittedCall {
  readonly maxNanoUsd: number;
  readonly model: Model | undefined;
}

function isCounted(
  budget: CountedCalls | undefined,
  provider: string,
  model: Model | undefined,
): boolean {
  if (budget === undefined) return true;
  if (budget.provider !== undefined && provider !== budget.provider) return false;
  return budget.models === undefined || (model !== undefined && namesModel(budget.models, model));
}
