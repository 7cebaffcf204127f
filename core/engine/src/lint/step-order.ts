/** The lint `step_order`: orders of steps that are allowed but rarely intended. */

import type { PipelineSettings } from "../config/snapshot.ts";
import { type LintFinding, type LintSubject, capabilitiesOf } from "./rule.ts";

/** The usual orders, by the capabilities of steps, with the effect of the other order. */
const USUAL: readonly {
  readonly outer: string;
  readonly inner: string;
  readonly reason: string;
}[] = [
  {
    outer: "limits",
    inner: "guardrails",
    reason: "guardrails check requests that the limits then refuse",
  },
  { outer: "limits", inner: "retry", reason: "every retry counts as a request of the key" },
  {
    outer: "guardrails",
    inner: "fallback",
    reason: "guardrails check the request again for each fallback",
  },
  {
    outer: "guardrails",
    inner: "target",
    reason: "guardrails check the request again for each target",
  },
  {
    outer: "guardrails",
    inner: "retry",
    reason: "guardrails check the request again for each retry",
  },
];

/** Reports pairs of steps in an unusual order. */
export function unusualOrders({ snapshot, definitions }: LintSubject): LintFinding[] {
  return snapshot.pipelines.flatMap(({ steps }: PipelineSettings) =>
    USUAL.flatMap(({ outer, inner, reason }) => {
      const early = steps.find(({ use }) => capabilitiesOf(use, definitions).includes(inner));
      const late = steps.find(
        ({ use, index }) =>
          index > (early?.index ?? 0) && capabilitiesOf(use, definitions).includes(outer),
      );
      if (early === undefined || late === undefined) return [];
      const message = `Step ${late.use} comes after ${early.use}: ${reason}.`;
      return [
        {
          at: late.at,
          message,
          fix: `Move ${late.use} before ${early.use}, unless you want this.`,
        },
      ];
    }),
  );
}
