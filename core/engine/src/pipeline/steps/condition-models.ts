/**
 * Models that the conditions of steps name: a step for a model that no request can name applies to
 * none.
 */

import { nameFix } from "../../config/validate/explain.ts";
import type { Finding } from "../../config/finding.ts";
import type { ModelSettings, PipelineSettings } from "../../config/snapshot.ts";

/**
 * A finding for each `when: { model }` that matches no model. Native requests name models of the
 * upstream: they are left out.
 */
export function conditionModelFaults(
  { steps, operation }: PipelineSettings,
  models: readonly Pick<ModelSettings, "id">[],
): Finding[] {
  if (operation === "passthrough") return [];
  const ids = models.map(({ id }) => id);
  return steps.flatMap(({ use, when, at }) =>
    (when?.model ?? [])
      .filter((pattern) => !ids.some((id) => canMeet(pattern, id)))
      .map((pattern) => ({
        at,
        message: `Step ${use} has the condition \`model: ${pattern}\`, which matches no model of gateway.yaml: it applies to no request.`,
        fix: nameFix(pattern, ids, "add the model to `models`"),
      })),
  );
}

/** Whether a name can match both patterns; a final `*` matches any rest. */
function canMeet(pattern: string, id: string): boolean {
  const [one, other] = [pattern, id].map((text) =>
    text.endsWith("*") ? text.slice(0, -1) : text,
  ) as [string, string];
  if (pattern.endsWith("*") && id.endsWith("*"))
    return one.startsWith(other) || other.startsWith(one);
  if (pattern.endsWith("*")) return other.startsWith(one);
  return id.endsWith("*") ? one.startsWith(other) : one === other;
}
