/**
 * Reservations in Redis. All claims at one place are one decision. In a cluster a reservation may
 * have several places: they are asked one after the other, and a refusal gives back what was taken
 * before.
 */

import type {
  Claim,
  ClaimState,
  Refused,
  Reservation,
  StateGroup,
  StateReading,
  TakeResult,
  Unseeded,
} from "@sluice/contract";
import * as scripts from "../scripts/budgets.ts";
import type { Place, Servers } from "../servers/servers.ts";
import { readingsOf, takeResult } from "./answers.ts";
import { budgetNames, Decisions } from "./decisions.ts";
import { type Part, partsOf, type Places } from "./groups.ts";

const NO_STATES: readonly ClaimState[] = Object.freeze([]);

/** Decides about reservations. */
export class Reservations {
  readonly #servers: Servers;
  readonly #places: Places;
  readonly #decisions: Decisions;

  constructor(servers: Servers, places: Places, decisions: Decisions) {
    this.#servers = servers;
    this.#places = places;
    this.#decisions = decisions;
  }

  async take(reservation: Reservation, leaseMs: number): Promise<TakeResult> {
    const { id, claims } = reservation;
    if (claims.length === 0) return { outcome: "granted", states: NO_STATES };
    const parts = this.#partsOf(claims);
    if (parts.length > 1) return await this.#takeParts(reservation, parts, leaseMs);
    const decision = { operation: "take", id, claims, ms: leaseMs } as const;
    return takeResult(claims, await this.#decisions.ask(parts[0]!.place, decision));
  }

  /** `storedMs`: for how long the row of the cost has been in the ledger; absent: it may not be. */
  async settle({ id, claims }: Reservation, storedMs = -1): Promise<void> {
    await this.#each(claims, ({ place, claims: own }) =>
      this.#decisions.ask(place, { operation: "settle", id, claims: own, ms: storedMs }),
    );
  }

  async renew(reservations: readonly Reservation[], leaseMs: number): Promise<void> {
    await Promise.all(
      reservations.map(({ id, claims }) =>
        this.#each(claims, ({ place, claims: own }) =>
          this.#decisions.ask(place, { operation: "renew", id, claims: own, ms: leaseMs }),
        ),
      ),
    );
  }

  async seed(key: string, spentNanoUsd: number, group?: StateGroup, readMs = 0): Promise<void> {
    const place = this.#places.ofCounter(key, group);
    const names = budgetNames(place.prefix, key);
    this.#decisions.flush();
    const parts = [key, String(spentNanoUsd), String(Math.ceil(readMs))];
    await this.#servers.run(scripts.seed, place, names, ...parts);
  }

  async read(keys: readonly string[], group?: StateGroup): Promise<readonly StateReading[]> {
    if (keys.length === 0) return [];
    if (group === undefined && this.#servers.isCluster && keys.length > 1)
      return (await Promise.all(keys.map((key) => this.read([key])))).flat();
    const place = this.#places.ofCounter(keys[0]!, group);
    const names = keys.flatMap((key) => counterNames(place, key));
    this.#decisions.flush();
    return readingsOf(keys, String(await this.#servers.run(scripts.read, place, names, ...keys)));
  }

  async reset(key: string, group?: StateGroup): Promise<void> {
    const place = this.#places.ofCounter(key, group);
    this.#decisions.flush();
    await this.#servers.run(scripts.reset, place, counterNames(place, key), key);
  }

  /** One place has all claims where there is one server. */
  #partsOf(claims: readonly Claim[]): readonly Part[] {
    if (this.#servers.isCluster) return partsOf(claims, this.#places);
    return [{ place: this.#places.bounds, order: 0, claims, at: [] }];
  }

  async #each(claims: readonly Claim[], ask: (part: Part) => Promise<unknown>): Promise<void> {
    if (claims.length === 0) return;
    const [first, ...more] = this.#partsOf(claims);
    if (more.length === 0) await ask(first!);
    else await Promise.all([first!, ...more].map(ask));
  }

  async #takeParts(
    { id, claims }: Reservation,
    parts: readonly Part[],
    leaseMs: number,
  ): Promise<TakeResult> {
    const states: (ClaimState | undefined)[] = claims.map(() => undefined);
    for (const [number, { place, claims: own, at }] of parts.entries()) {
      const decision = { operation: "take", id, claims: own, ms: leaseMs } as const;
      let result: TakeResult;
      try {
        result = takeResult(own, await this.#decisions.ask(place, decision));
      } catch (error) {
        // What was taken may be given back late or not at all: then its lease ends it.
        this.#release(id, parts.slice(0, number + 1)).catch(() => undefined);
        throw error;
      }
      if (result.outcome === "granted") {
        for (const [index, state] of result.states.entries()) states[at[index]!] = state;
        continue;
      }
      await this.#release(id, parts.slice(0, number));
      return result.outcome === "unseeded"
        ? await this.#allUnseeded(id, parts.slice(number + 1), result, leaseMs)
        : refusal(result, parts, number, claims, states);
    }
    return { outcome: "granted", states: states as readonly ClaimState[] };
  }

  /** Every unknown budget of a reservation: one round of reading the ledger is enough for all. */
  async #allUnseeded(
    id: string,
    parts: readonly Part[],
    first: Unseeded,
    leaseMs: number,
  ): Promise<Unseeded> {
    const results = await Promise.all(
      parts.map(async ({ place, claims }) => {
        const decision = { operation: "take", id, claims, ms: leaseMs } as const;
        return takeResult(claims, await this.#decisions.ask(place, decision));
      }),
    );
    await this.#release(
      id,
      parts.filter((_, at) => results[at]?.outcome === "granted"),
    );
    const keys = results.flatMap((result) => (result.outcome === "unseeded" ? result.keys : []));
    return { outcome: "unseeded", keys: [...first.keys, ...keys] };
  }

  async #release(id: string, parts: readonly Part[]): Promise<void> {
    await Promise.all(
      parts.map(({ place, claims }) =>
        this.#decisions.ask(place, { operation: "release", id, claims, ms: 0 }),
      ),
    );
  }
}

/** The refusal of a part as that of all claims. What was taken before it has been given back. */
function refusal(
  result: Refused,
  parts: readonly Part[],
  number: number,
  claims: readonly Claim[],
  taken: readonly (ClaimState | undefined)[],
): Refused {
  const states = taken.map((state, at) => state && restored(state, claims[at]!));
  const { at } = parts[number]!;
  for (const [index, state] of result.states.entries()) states[at[index]!] = state;
  return { ...result, failedIndex: at[result.failedIndex]!, states };
}

function restored(state: ClaimState, claim: Claim): ClaimState {
  const amount =
    claim.kind === "window" ? claim.amount : claim.kind === "budget" ? claim.amountNanoUsd : 1;
  return { ...state, remaining: Math.min(state.limit, state.remaining + amount) };
}

/** All names that a key may have. */
function counterNames({ prefix }: Place, key: string): string[] {
  return [`${prefix}v:${key}`, `${prefix}c:${key}`, ...budgetNames(prefix, key)];
}
