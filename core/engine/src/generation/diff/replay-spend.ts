/**
 * The cost of the newest requests, and their cost on a candidate: their tokens at the prices of its
 * targets.
 */

import { costNanoUsd } from "@sluice/runtime";
import type { Price, Target, Usage } from "@sluice/contract";
import type { RequestGroup } from "./ledger-requests.ts";
import { isSame } from "./effects/compare.ts";

/** Money of a replay. Nano-dollars. */
export interface ReplaySpend {
  /** Requests whose money is known on both sides; the sums are over them. */
  readonly requests: number;
  readonly didCostNanoUsd: number;
  /**
   * At the cheapest and at the dearest target of each model: which of them would be called is not
   * known.
   */
  readonly wouldCostNanoUsd: { readonly least: number; readonly most: number };
  /** The part of the former cost that belongs to requests which the candidate would refuse. */
  readonly refusedNanoUsd: number;
  /** Requests that are not in the sums, because their money is unknown. */
  readonly unknown: number;
}

/** The targets that a plan calls, and their prices. */
export interface Calls {
  readonly targets: readonly Target[];
  priceOf(target: Target): Price | undefined;
}

/** Adds up the money of a replay. */
export class SpendTally {
  #requests = 0;
  #did = 0;
  #least = 0;
  #most = 0;
  #refused = 0;
  #unknown = 0;

  /** A group that was served and would be refused. */
  refused({ count, bill }: RequestGroup): void {
    this.#count(count, bill);
    this.#refused += bill.costNanoUsd;
  }

  /** A group that was refused and would be served: the length of its replies is unknown. */
  admitted({ count }: RequestGroup): void {
    this.#unknown += count;
  }

  /** A group that is refused before and after. */
  stillRefused({ count, bill }: RequestGroup): void {
    this.#count(count, bill);
  }

  /** A group that is served before and after. */
  served({ count, bill }: RequestGroup, before: Calls, after: Calls): void {
    const [old, now] = [pricesOf(before), pricesOf(after)];
    // Native calls have no targets: the same provider has the same price.
    const costs = isSame(old, now) ? [bill.costNanoUsd] : estimates(bill, old, now);
    if (costs === undefined) {
      this.#unknown += count;
      return;
    }
    this.#count(count, bill);
    this.#least += Math.min(...costs);
    this.#most += Math.max(...costs);
  }

  get sum(): ReplaySpend {
    return {
      requests: this.#requests,
      didCostNanoUsd: Math.round(this.#did),
      wouldCostNanoUsd: { least: Math.round(this.#least), most: Math.round(this.#most) },
      refusedNanoUsd: Math.round(this.#refused),
      unknown: this.#unknown,
    };
  }

  #count(count: number, { costNanoUsd: did, known }: RequestGroup["bill"]): void {
    this.#requests += known;
    this.#unknown += count - known;
    this.#did += did;
  }
}

/**
 * What a group would cost at each target; `undefined` when a price or the tokens are not known.
 * Where one price held before, what it did cost is scaled: so caches, terms and retries that made
 * it dearer or cheaper than its tokens count on both sides.
 */
function estimates(
  { costNanoUsd: did, known, promptTokens, completionTokens }: RequestGroup["bill"],
  old: readonly (Price | undefined)[],
  now: readonly (Price | undefined)[],
): readonly number[] | undefined {
  if (known === 0 || promptTokens + completionTokens === 0) return undefined;
  // Prices may depend on a prompt's length: so one request of the middle length, and so many of
  // them.
  const usage = usageOf(Math.round(promptTokens / known), Math.round(completionTokens / known));
  const costs = now.map((price) => (price === undefined ? undefined : costOf(usage, price)));
  if (costs.length === 0 || costs.includes(undefined)) return undefined;
  const before = old.length === 1 && old[0] !== undefined ? costOf(usage, old[0]) : undefined;
  const scale = before === undefined || before === 0 ? known : did / before;
  return (costs as number[]).map((cost) => cost * scale);
}

function costOf(usage: Usage, price: Price): number | undefined {
  return price.free === true ? 0 : costNanoUsd(usage, price);
}

function usageOf(promptTokens: number, completionTokens: number): Usage {
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
}

/** The different prices of the targets. */
function pricesOf({ targets, priceOf }: Calls): readonly (Price | undefined)[] {
  const prices: (Price | undefined)[] = [];
  for (const target of targets) {
    const price = priceOf(target);
    if (!prices.some((known) => isSame(known, price))) prices.push(price);
  }
  return prices;
}
