/** Answers of the server in the words of the contract. */

import type { Claim, ClaimState, StateReading, TakeResult } from "@sluice/contract";

/** Reads the answer to a take. Throws `Error` for a reservation that is settled. */
export function takeResult(claims: readonly Claim[], answer: string): TakeResult {
  const words = answer.split(" ");
  switch (words[0]) {
    case "g":
      return { outcome: "granted", states: statesOf(claims, words, 1) };
    case "u":
      return { outcome: "unseeded", keys: words.slice(1).map((at) => claims[Number(at)]!.key) };
    case "r":
      return {
        outcome: "refused",
        failedIndex: Number(words[1]),
        neverFits: words[2] === "1",
        retryAfterMs: words[3] === "-1" ? undefined : Number(words[3]),
        states: statesOf(claims, words, 4),
      };
    case "s":
      throw new Error("The reservation is settled already: its id cannot be taken again.");
    default:
      throw new Error(
        `The script of shared-redis answered ${JSON.stringify(answer.slice(0, 40))}.`,
      );
  }
}

/** Reads the answer to a reading of keys. */
export function readingsOf(keys: readonly string[], answer: string): StateReading[] {
  const words = answer.split(" ");
  const known = (at: number): number | undefined =>
    words[at] === "-1" ? undefined : Number(words[at]);
  return keys.map((key, index) => ({
    key,
    windowUsed: known(index * 4),
    inFlight: known(index * 4 + 1),
    spentNanoUsd: known(index * 4 + 2),
    reservedNanoUsd: known(index * 4 + 3),
  }));
}

/** What is left of each claim, and the time until it is empty, from a word on. */
function statesOf(claims: readonly Claim[], words: readonly string[], from: number): ClaimState[] {
  const states: ClaimState[] = [];
  for (let at = 0; at < claims.length; at += 1) {
    const claim = claims[at]!;
    const reset = words[from + at * 2 + 1];
    states.push({
      limit: claim.kind === "budget" ? claim.limitNanoUsd : claim.limit,
      remaining: Number(words[from + at * 2]),
      resetMs: reset === "-1" ? undefined : Number(reset),
    });
  }
  return states;
}
