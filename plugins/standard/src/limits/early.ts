/** What `limits` takes before the body is read: requests and slots of the identity. */

import type { Exchange, Identity, MaybePromise, TakeResult } from "@sluice/contract";
import { type Early, LEASE_MARGIN_MS } from "./reserve.ts";
import type { LeaseParts } from "./parts.ts";
import { refusalOf, showLimits } from "./refusal.ts";
import { KeyPart } from "./part.ts";

const NOTHING: Early = Object.freeze({ rules: [], states: [] });

/**
 * Takes the requests and slots of an identity until the exchange is over. A request stays counted,
 * whatever becomes of it. Throws or rejects with `rate_limited`, also where the key has its share
 * of slots that other keys use.
 */
export function takeEarly(
  exchange: Exchange,
  identity: Identity,
  parts: LeaseParts,
): MaybePromise<Early> {
  const { early: rules } = parts.resolver.of(identity, undefined);
  if (rules.length === 0) return NOTHING;
  const part = new KeyPart(exchange, parts);
  const claims = rules.map((rule) => part.claimOf(rule, 0, 0));
  const id = `${exchange.id}:early`;
  const { host, reserver } = parts;
  const counted = part.count(claims, rules, () => 0);
  const leaseMs =
    Math.max(0, exchange.lifetime.deadlineMs - host.clock.monotonic()) + LEASE_MARGIN_MS;
  const taken = (result: TakeResult): Early => {
    if (result.outcome === "unseeded") return NOTHING;
    showLimits(exchange, rules, result.states);
    if (result.outcome === "refused") {
      const rule = rules[result.failedIndex];
      exchange.note("limits", `refused by the ${rule?.kind ?? "limit"} of`, rule?.subject);
      throw refusalOf(result, rules, host, false);
    }
    exchange.lifetime.onSettle(() => {
      part.giveBack(rules, counted);
      const settled = host.state.settle({ id, claims });
      if (settled instanceof Promise) {
        settled.catch((error: unknown) => {
          host.log.error("a reservation could not be settled", { request_id: exchange.id, error });
        });
      }
    });
    return { rules, states: result.states };
  };
  const result = part.unlessRefused(rules, counted, () =>
    reserver.take({ id, claims }, rules, leaseMs),
  );
  return result instanceof Promise ? result.then(taken) : taken(result);
}
