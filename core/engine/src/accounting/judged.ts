/** What guardrails did with an exchange, as the sums of the store count it. */

import { guardrailOutcomes } from "@sluice/runtime";
import type { GuardrailCount } from "@sluice/contract";
import type { LiveExchange } from "../pipeline/exchange.ts";

/** The header in which the step `guardrails` names those that check the exchange. */
const CHECKED_BY = "x-sluice-guardrails";

/** The counts of one request; `undefined` where no guardrail checked it. */
export function judgedBy(exchange: LiveExchange): readonly GuardrailCount[] | undefined {
  const outcomes = guardrailOutcomes(exchange);
  const { route, headers } = exchange;
  if (route === undefined || (outcomes.length === 0 && !headers.has(CHECKED_BY))) return undefined;
  const name = `${route.method} ${route.path}`;
  const counts = new Map<string, GuardrailCount>();
  const add = (count: Omit<GuardrailCount, "route" | "requests">): void => {
    counts.set(Object.values(count).join(" "), { route: name, ...count, requests: 1 });
  };
  add({ guardrail: "", direction: "", verdict: "", mode: "" });
  for (const { guardrail, direction, verdict, mode } of outcomes)
    add({ guardrail, direction, verdict, mode });
  return [...counts.values()];
}

/** The sums of two lists of counts. */
export function joinCounts(
  first: readonly GuardrailCount[] | undefined,
  second: readonly GuardrailCount[] | undefined,
): readonly GuardrailCount[] | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const joined = new Map<string, GuardrailCount>();
  for (const count of [...first, ...second]) {
    const { requests, ...names } = count;
    const name = JSON.stringify(Object.values(names));
    joined.set(name, { ...count, requests: requests + (joined.get(name)?.requests ?? 0) });
  }
  return [...joined.values()];
}
