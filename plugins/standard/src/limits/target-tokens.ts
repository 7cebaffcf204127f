/**
 * Tokens of targets that have a limit of them: what requests under way have reserved, and what was
 * spent within the last minute.
 */

import { addNow, advance, createWindow, type SlidingWindow } from "@sluice/runtime/state";
import type { Claim, Clock, DeploymentTokens, Host, SharedValue, Target } from "@sluice/contract";
import { MINUTE_MS, type RateRule, type Rule } from "./rules/rule.ts";

interface Count {
  limit: number;
  reserved: number;
  readonly spent: SlidingWindow;
}

/** Counts tokens by target, in this process. It outlives generations. */
export class TargetTokens implements SharedValue {
  readonly #counts = new Map<string, Count>();
  readonly #clock: Pick<Clock, "monotonic">;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** A request under way has reserved these claims. */
  reserve(rules: readonly Rule[], claims: readonly Claim[]): void {
    for (let index = 0; index < rules.length; index += 1) {
      const rule = rules[index]!;
      if (!isOfTarget(rule)) continue;
      const count = this.#of(rule.target, rule.claim.limit);
      count.limit = rule.claim.limit;
      count.reserved += tokensOf(claims[index]);
    }
  }

  /** It has ended, with what it has spent of each claim. */
  settle(rules: readonly Rule[], reserved: readonly Claim[], spent: readonly Claim[]): void {
    for (let index = 0; index < rules.length; index += 1) {
      const rule = rules[index]!;
      if (!isOfTarget(rule)) continue;
      const count = this.#of(rule.target, rule.claim.limit);
      count.reserved -= tokensOf(reserved[index]);
      advance(count.spent, this.#clock.monotonic());
      addNow(count.spent, tokensOf(spent[index]));
    }
  }

  /** The tokens of a target; `undefined` without a limit. */
  view({ id, tpm }: Target): DeploymentTokens | undefined {
    const count = this.#counts.get(id);
    if (count === undefined)
      return tpm === undefined ? undefined : { limit: tpm, reserved: 0, spent: 0 };
    advance(count.spent, this.#clock.monotonic());
    return { limit: count.limit, reserved: count.reserved, spent: count.spent.used };
  }

  close(): void {
    this.#counts.clear();
  }

  #of(target: string, limit: number): Count {
    let count = this.#counts.get(target);
    if (count === undefined)
      this.#counts.set(target, (count = { limit, reserved: 0, spent: createWindow(MINUTE_MS) }));
    return count;
  }
}

function isOfTarget(rule: Rule): rule is RateRule & { readonly target: string } {
  return rule.kind === "tokens" && rule.target !== undefined;
}

function tokensOf(claim: Claim | undefined): number {
  return claim?.kind === "window" ? claim.amount : 0;
}

/** The counts of the process. */
export function openTargetTokens({ shared, clock }: Pick<Host, "shared" | "clock">): TargetTokens {
  return shared("target-tokens", () => new TargetTokens(clock));
}
