/**
 * The joined entry: one decision for what is known before the body and what needs it. Where shared
 * state is a server, two decisions would be two round trips.
 */

import { defineSlot } from "@sluice/kit";
import type { Exchange, Identity, TakeResult } from "@sluice/contract";
import type { LeaseParts } from "./parts.ts";
import { claimOf, type Rule } from "./rules/rule.ts";

/** A larger body is read when its key has a request left for it. */
const MAX_BODY_BYTES = 64 * 1024;
/** After a refusal, a key is decided about before its bodies are read for so long. */
const REFUSED_MS = 5_000;
/** A request that is counted afterwards holds nothing. */
const LEASE_MS = 60_000;

/** Joins the decisions of exchanges, where that is of use. */
export class JoinedEntries {
  readonly #parts: LeaseParts;
  /** Until when keys that were refused are decided about at once, on the monotonic clock. */
  readonly #refusedUntilMs = new WeakMap<Identity, number>();

  constructor(parts: LeaseParts) {
    this.#parts = parts;
  }

  /**
   * Leaves the decision of an exchange to its entry. A request that does not come as far is counted
   * all the same. Returns whether it does.
   */
  defer(exchange: Exchange, identity: Identity): boolean {
    if (!this.#isOfUse(identity) || !isSmall(exchange)) return false;
    const entry = new JoinedEntry(() => {
      const untilMs = this.#parts.host.clock.monotonic() + REFUSED_MS;
      this.#refusedUntilMs.set(identity, untilMs);
    });
    JOINED.set(exchange, (JOINED.get(exchange) ?? new Map()).set(this, entry));
    exchange.lifetime.onSettle(() => {
      if (!entry.isCounted) this.#count(exchange, identity, entry);
    });
    return true;
  }

  /** The entry of an exchange whose decision was left to it. */
  of(exchange: Exchange): JoinedEntry | undefined {
    return JOINED.get(exchange)?.get(this);
  }

  /** Whether a decision takes a round trip, and there are two to join. */
  #isOfUse(identity: Identity): boolean {
    const { host, resolver } = this.#parts;
    if (host.state.isRemote !== true) return false;
    const { early, late } = resolver.of(identity, undefined);
    if (early.length === 0 || late.length === 0) return false;
    return (this.#refusedUntilMs.get(identity) ?? -Infinity) <= host.clock.monotonic();
  }

  /** Counts a request in the windows of its key, after it was refused for something else. */
  #count(exchange: Exchange, identity: Identity, entry: JoinedEntry): void {
    const { host, resolver } = this.#parts;
    const { early } = resolver.of(identity, undefined);
    const windows = early.filter(({ kind }) => kind === "requests");
    if (windows.length === 0) return;
    const reservation = {
      id: `${exchange.id}:early`,
      claims: windows.map((rule) => claimOf(rule, 0, 0)),
    };
    const count = async (): Promise<void> => {
      const { outcome } = await host.state.take(reservation, LEASE_MS);
      if (outcome === "granted") await host.state.settle(reservation);
      else entry.refused();
    };
    count().catch((error: unknown) => {
      host.log.error("a request could not be counted", { request_id: exchange.id, error });
    });
  }
}

/** An entry that decides about everything. */
export class JoinedEntry {
  /** Whether the request counts in the windows of its key, or need not. */
  isCounted = false;
  /** Notes that the key was refused. */
  readonly refused: () => void;

  constructor(refused: () => void) {
    this.refused = refused;
  }

  /** Takes note of the decision. A request that was refused by a window does not count in it. */
  decided(result: TakeResult, rules: readonly Rule[], early: readonly Rule[]): void {
    if (result.outcome === "unseeded") return;
    if (result.outcome === "granted") this.isCounted = true;
    else {
      this.isCounted = early.includes(rules[result.failedIndex]!);
      this.refused();
    }
  }
}

/** What each use of the step has left to the entry. A pipeline may use the step twice. */
const JOINED = defineSlot<Map<JoinedEntries, JoinedEntry>>("limits taken at the entry");

function isSmall({ client }: Exchange): boolean {
  const length = client.header("content-length");
  return length !== undefined && Number(length) <= MAX_BODY_BYTES;
}
