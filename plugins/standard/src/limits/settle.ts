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
  const used = new UsedAmounts(exchange, calls, reserved.length > 1);
  for (const one of reserved) {
    const { reservation, rules, counted } = one;
    part.giveBack(rules, counted);
    used.begin(one);
    const claims: Claim[] = [];
    for (let at = 0; at < rules.length; at += 1)
      claims.push(used.claimOf(rules[at]!, reservation.claims[at]));
    tokens.settle(rules, reservation.claims, claims);
    const settled = host.state.settle({ id: reservation.id, claims });
    if (settled instanceof Promise) {
      settled.catch((error: unknown) => {
        host.log.error("a reservation could not be settled", { request_id: exchange.id, error });
      });
    }
  }
}

/** What an exchange has used, added up once for all of its limits. */
class UsedAmounts {
  readonly #exchange: Exchange;
  readonly #calls: AdmittedCalls;
  /** Budgets whose whole cost an earlier reservation has booked. One alone books all of it. */
  readonly #booked: Set<string> | undefined;
  /** What all calls have cost. */
  #nanoUsd: number | undefined;
  /** The tokens of the reservation's attempts; `undefined`: a reply reports none. */
  #tokens: number | undefined;

  constructor(exchange: Exchange, calls: AdmittedCalls, hasSeveral: boolean) {
    this.#exchange = exchange;
    this.#calls = calls;
    this.#booked = hasSeveral ? new Set() : undefined;
  }

  /** Begins with a reservation. */
  begin({ admission }: Reserved): void {
    const own = admission === undefined ? undefined : this.#calls.attemptOf(admission);
    const { attempts } = this.#exchange;
    this.#tokens = tokensUsed(admission === undefined ? attempts : own === undefined ? [] : [own]);
  }

  /** A claim with the amount that was used. Unreported tokens stay taken. */
  claimOf(rule: Rule, taken: Claim | undefined): Claim {
    if (rule.kind === "budget") return claimOf(rule, 0, this.#spentOf(rule));
    if (rule.kind !== "tokens" || taken?.kind !== "window") return claimOf(rule, 0, 0);
    return claimOf(rule, this.#tokens ?? taken.amount, 0);
  }

  #spentOf(rule: BudgetRule): number {
    if (this.#booked?.has(rule.key) === true) return 0;
    this.#booked?.add(rule.key);
    if (rule.provider !== undefined || rule.models !== undefined) return this.#calls.spent(rule);
    return (this.#nanoUsd ??= this.#calls.spent(rule));
  }
}

/** The tokens of attempts; `undefined` where a reply reports none. */
function tokensUsed(attempts: readonly Attempt[]): number | undefined {
  let sum = 0;
  for (const { usage, outcome } of attempts) {
    if (usage !== undefined) sum += usage.totalTokens;
    else if (outcome !== "failure") return undefined;
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
