/** The lint `step_order`: orders that nothing forbids and hardly anybody means. */

import type { PipelineSettings } from "../config/snapshot.ts";
import { type Doubt, type LintSubject, wordsOf } from "./rule.ts";

/** What should stand before what, by the words that steps provide, and what happens otherwise. */
const USUAL: readonly { readonly outer: string; readonly inner: string; readonly reason: string }[] = [
  { outer: "limits", inner: "guardrails", reason: "guardrails would judge requests that the limits refuse" },
  { outer: "limits", inner: "retry", reason: "every retry would count as a request of the key" },
  { outer: "guardrails", inner: "fallback", reason: "the request would be judged anew for each model that stands in" },
  { outer: "guardrails", inner: "target", reason: "the request would be judged anew for each target" },
  { outer: "guardrails", inner: "retry", reason: "the request would be judged anew for each retry" },
];

/** Steps that stand in another order than is usual. */
export function unusualOrders({ snapshot, definitions }: LintSubject): Doubt[] {
  return snapshot.pipelines.flatMap(({ steps }: PipelineSettings) =>
    USUAL.flatMap(({ outer, inner, reason }) => {
      const early = steps.find(({ use }) => wordsOf(use, definitions).includes(inner));
      const late = steps.find(({ use, index }) => index > (early?.index ?? 0) && wordsOf(use, definitions).includes(outer));
      if (early === undefined || late === undefined) return [];
      const message = `Step ${late.use} stands after ${early.use}: ${reason}.`;
      return [{ at: late.at, message, fix: `Move ${late.use} before ${early.use}, if that is not what you want.` }];
    }),
  );
}
