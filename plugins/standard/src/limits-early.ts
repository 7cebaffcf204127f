/** What `limits` takes before the body is read: requests and slots of the identity. */

import type { Exchange, Identity, Soon, TakeResult } from "@sluice/spec";
import { type Early, LEASE_MARGIN_MS } from "./limits-hold.ts";
import type { HoldParts } from "./limits-parts.ts";
import { refusalOf, showLimits } from "./limits-refusal.ts";
import { claimOf } from "./limits-rule.ts";

const NOTHING: Early = Object.freeze({ rules: [], states: [] });

/**
 * Takes the requests and slots of an identity until the exchange is over. A request stays counted, whatever becomes of it. Throws or rejects with
 * `rate_limited`.
 */
export function takeEarly(exchange: Exchange, identity: Identity, parts: HoldParts): Soon<Early> {
  const { early: rules } = parts.book.of(identity, undefined);
  if (rules.length === 0) return NOTHING;
  const claims = rules.map((rule) => claimOf(rule, 0, 0));
  const id = `${exchange.id}:early`;
  const { host, taker } = parts;
  const leaseMs = Math.max(0, exchange.deadlineMs - host.clock.monotonic()) + LEASE_MARGIN_MS;
  const taken = (result: TakeResult): Early => {
    if (result.outcome === "unseeded") return NOTHING;
    showLimits(exchange, rules, result.states);
    if (result.outcome === "refused") {
      const rule = rules[result.short];
      exchange.note("limits", `refused by the ${rule?.kind ?? "limit"} of`, rule?.whose);
      throw refusalOf(result, rules, host, false);
    }
    exchange.onSettle(() => {
      const settled = host.state.settle({ id, claims });
      if (settled instanceof Promise) {
        settled.catch((error: unknown) => {
          host.log.error("a reservation could not be settled", { request_id: exchange.id, error });
        });
      }
    });
    return { rules, states: result.states };
  };
  const result = taker.take({ id, claims }, rules, leaseMs);
  return result instanceof Promise ? result.then(taken) : taken(result);
}
