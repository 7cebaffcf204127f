/** The part of a key: what its requests under way may reserve of limits that keys share. */

import type {
  Claim,
  Exchange,
  GatewayError,
  Host,
  MaybePromise,
  TakeResult,
} from "@sluice/contract";
import type { TokenEstimate } from "./estimate.ts";
import type { OpenReservations, OverShare } from "./open.ts";
import { overShareRefusal } from "./refusal.ts";
import { claimOf, type Rule } from "./rules/rule.ts";

/** What a part is counted with. */
export interface PartParts {
  readonly open: OpenReservations;
  readonly host: Pick<Host, "metrics">;
}

/** Counts what one exchange reserves. The master key shares with no other, and is not counted. */
export class KeyPart {
  readonly #exchange: Exchange;
  readonly #parts: PartParts;
  readonly #keyId: string | undefined;

  constructor(exchange: Exchange, parts: PartParts) {
    this.#exchange = exchange;
    this.#parts = parts;
    this.#keyId = exchange.identity?.kind === "key" ? exchange.identity.keyId : undefined;
  }

  /** The tokens to take of a window. A long reply is cut to what the key may reserve. */
  tokensFor(rule: Rule, estimate: TokenEstimate | undefined): number {
    const isCounted = this.#keyId !== undefined && rule.kind === "tokens";
    return tokensFor(
      rule,
      estimate,
      isCounted ? this.#parts.open.left(this.#keyId, rule) : Infinity,
    );
  }

  /** What is taken of a rule for so many tokens and so much money. */
  claimOf(rule: Rule, tokens: number, amountNanoUsd: number): Claim {
    if (this.#keyId === undefined || rule.kind !== "slots" || rule.partOf === undefined)
      return claimOf(rule, tokens, amountNanoUsd);
    const { claim } = rule;
    const limit = this.#parts.open.slots(this.#keyId, rule);
    return limit === claim.limit ? claim : { ...claim, limit };
  }

  /**
   * Counts claims. Throws where the key has its share of a limit. Rules from `ofTarget` on are
   * those of a target.
   */
  count(
    claims: readonly Claim[],
    rules: readonly Rule[],
    uncertain: () => number,
    ofTarget = Infinity,
  ): readonly number[] {
    if (this.#keyId === undefined) return [];
    const result = this.#parts.open.take(this.#keyId, rules, claims, uncertain);
    if ("over" in result)
      throw this.#refusal(result.over, rules.indexOf(result.over.rule) >= ofTarget);
    return result.counted;
  }

  /** Takes a reservation, and gives back what was counted unless it is granted. */
  unlessRefused(
    rules: readonly Rule[],
    counted: readonly number[],
    take: () => MaybePromise<TakeResult>,
  ): MaybePromise<TakeResult> {
    const ended = (result: TakeResult): TakeResult => {
      if (result.outcome === "granted") this.#parts.open.learn(rules, result.states);
      else this.giveBack(rules, counted);
      return result;
    };
    const lost = (error: unknown): never => {
      this.giveBack(rules, counted);
      throw error;
    };
    try {
      const result = take();
      return result instanceof Promise ? result.then(ended, lost) : ended(result);
    } catch (error) {
      return lost(error);
    }
  }

  giveBack(rules: readonly Rule[], counted: readonly number[]): void {
    if (this.#keyId !== undefined) this.#parts.open.giveBack(this.#keyId, rules, counted);
  }

  #refusal(over: OverShare, isOfTarget: boolean): GatewayError {
    this.#exchange.note(
      "limits",
      `refused: the key has its share of the ${over.rule.kind} of`,
      over.rule.subject,
    );
    return overShareRefusal(over, this.#parts.host, isOfTarget);
  }
}

/**
 * The tokens to take of a window. A long reply is cut to the window, and to what is left of it to
 * the key, so that it can be asked for at all; a long prompt is not.
 */
function tokensFor(rule: Rule, estimate: TokenEstimate | undefined, left: number): number {
  if (rule.kind !== "tokens" || estimate === undefined) return 0;
  const { promptTokens, completionTokens } = estimate;
  return Math.max(promptTokens, Math.min(promptTokens + completionTokens, rule.claim.limit, left));
}
