/**
 * Decisions about reservations. Those of one turn of the event loop leave together: in one call for
 * each place, as far as the bound of a call allows.
 */

import type { Claim } from "@sluice/contract";
import { decide, KIND, OPERATION } from "../scripts/decide.ts";
import type { Place, Servers } from "../servers/servers.ts";
import type { Absence } from "./presence.ts";

/**
 * Claims of one call. A script holds the server for some microseconds for each; other gateways wait
 * meanwhile.
 */
const MAX_CLAIMS = 128;

/** One decision. */
export interface Decision {
  readonly operation: keyof typeof OPERATION;
  readonly id: string;
  readonly claims: readonly Claim[];
  /**
   * Milliseconds of the lease. Of a settlement: for how long its row has been in the ledger, or -1.
   */
  readonly ms: number;
}

/** Decisions that leave together. */
interface Batch {
  readonly place: Place;
  readonly numbers: number[];
  readonly texts: string[];
  readonly keys: string[];
  readonly waiting: PromiseWithResolvers<string>[];
  claims: number;
}

/** Sends decisions. */
export class Decisions {
  readonly #servers: Servers;
  readonly #absence: () => Absence;
  /** By the prefixes of places. */
  readonly #batches = new Map<string, Batch>();
  #isScheduled = false;

  /** `absence`: which gateways may decide alone. */
  constructor(servers: Servers, absence: () => Absence) {
    this.#servers = servers;
    this.#absence = absence;
  }

  /** The answer to a decision, as the script gives it. */
  ask(place: Place, decision: Decision): Promise<string> {
    let batch = this.#batches.get(place.prefix);
    if (batch !== undefined && batch.claims + decision.claims.length > MAX_CLAIMS) {
      this.#send(batch);
      batch = undefined;
    }
    if (batch === undefined) {
      batch = { place, numbers: [0, 0, 0], texts: [], keys: [], waiting: [], claims: 0 };
      this.#batches.set(place.prefix, batch);
    }
    encode(batch, decision, this.#servers.isCluster);
    const answer = Promise.withResolvers<string>();
    batch.waiting.push(answer);
    this.#schedule();
    return answer.promise;
  }

  /** Sends what waits, before another call. */
  flush(): void {
    for (const batch of this.#batches.values()) this.#send(batch);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  #send({ place, keys, numbers, texts, waiting }: Batch): void {
    this.#batches.delete(place.prefix);
    const { missingPart, part, succeededMs } = this.#absence();
    [numbers[0], numbers[1], numbers[2]] = [missingPart, part, succeededMs];
    this.#servers.run(decide, place, keys, JSON.stringify(numbers), ...texts).then(
      (reply) => {
        const lines = String(reply).split("\n");
        for (let at = 0; at < waiting.length; at += 1) waiting[at]!.resolve(lines[at] ?? "");
      },
      (error: unknown) => {
        for (const { reject } of waiting) reject(error);
      },
    );
  }
}

function encode(batch: Batch, { operation, id, claims, ms }: Decision, isCluster: boolean): void {
  const { numbers, texts, keys, place } = batch;
  numbers.push(OPERATION[operation], operation === "settle" ? Math.round(ms) : wholeMs(ms));
  numbers.push(claims.length);
  texts.push(id);
  batch.claims += claims.length;
  for (const claim of claims) {
    texts.push(claim.key);
    if (claim.kind === "window")
      numbers.push(KIND.window, safe(claim.limit), safe(claim.amount), claim.windowMs);
    else if (claim.kind === "concurrent") numbers.push(KIND.concurrent, safe(claim.limit), 1, 0);
    else numbers.push(KIND.budget, safe(claim.limitNanoUsd), safe(claim.amountNanoUsd), 0);
  }
  if (isCluster) keys.push(...namesOf(place.prefix, id, claims));
}

/** The names that a decision uses. */
function namesOf(prefix: string, id: string, claims: readonly Claim[]): string[] {
  const names = [`${prefix}r:${id}`];
  for (const { kind, key } of claims) {
    if (kind === "window") names.push(`${prefix}v:${key}`);
    else if (kind === "concurrent") names.push(`${prefix}c:${key}`);
    else names.push(...budgetNames(prefix, key));
  }
  return names;
}

/** The names of a budget. */
export function budgetNames(prefix: string, key: string): string[] {
  return [`${prefix}b:${key}`, `${prefix}e:${key}`, `${prefix}h:${key}`];
}

/** Redis takes whole milliseconds, one at least; a time that is left is no whole number. */
export function wholeMs(ms: number): number {
  return Math.max(1, Math.round(ms));
}

/** A number that JSON and Lua have exactly: no limit is the largest one. */
function safe(amount: number): number {
  return amount <= Number.MAX_SAFE_INTEGER ? amount : Number.MAX_SAFE_INTEGER;
}
