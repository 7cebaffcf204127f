/** The lint `unreachable_fallback`: a pipeline never uses a fallback of a model. */

import type { FallbackClass, ModelMode, Operation } from "@sluice/contract";
import type { ModelSettings, PipelineSettings } from "../config/snapshot.ts";
import { type LintFinding, type LintSubject, capabilitiesOf } from "./rule.ts";

const MODES: Partial<Record<Operation, ModelMode>> = {
  chat: "chat",
  embeddings: "embedding",
  images: "image",
};
/** Classes of failures that `general` of the step includes. */
const PARTS: ReadonlySet<FallbackClass> = new Set<FallbackClass>([
  "rate_limit",
  "overloaded",
  "timeout",
]);

/** Reports fallbacks that a pipeline never uses, each with the reason. */
export function unreachableFallbacks(subject: LintSubject): LintFinding[] {
  const { snapshot, definitions } = subject;
  return snapshot.models.flatMap((model) => {
    const lists = Object.entries(model.fallbacks ?? {}) as [FallbackClass, readonly string[]][];
    if (lists.every(([, ids]) => ids.length === 0)) return [];
    return snapshot.pipelines
      .filter(
        ({ operation, steps }) =>
          MODES[operation] === model.mode && steps.some(({ use }) => use === "provider"),
      )
      .flatMap((pipeline): LintFinding[] => {
        const step = pipeline.steps.find(({ use }) =>
          capabilitiesOf(use, definitions).includes("fallback"),
        );
        if (step === undefined) {
          const message = `Pipeline ${pipeline.name} never uses the fallbacks of the model ${model.id}: it has no step fallback.`;
          return [
            {
              at: model.at,
              message,
              fix: "Add `fallback` before `balance` in the pipeline, or remove the fallbacks.",
            },
          ];
        }
        return [...beyond(model, lists, pipeline, step.options), ...late(model, pipeline, subject)];
      });
  });
}

function beyond(
  { id, at }: ModelSettings,
  lists: readonly (readonly [FallbackClass, readonly string[]])[],
  { name: pipeline }: PipelineSettings,
  { max, classes }: Readonly<Record<string, unknown>>,
): LintFinding[] {
  return lists.flatMap(([name, ids]): LintFinding[] => {
    if (ids.length === 0) return [];
    if (
      Array.isArray(classes) &&
      !classes.includes(name) &&
      !(PARTS.has(name) && classes.includes("general"))
    ) {
      const message = `Pipeline ${pipeline} never uses the fallbacks of the model ${id} for ${name}: \`classes\` of its step fallback excludes ${name}.`;
      return [{ at, message, fix: `Add ${name} to \`classes\`, or remove the list.` }];
    }
    if (typeof max !== "number" || ids.length <= max) return [];
    const message = `Pipeline ${pipeline} never uses the fallbacks ${ids.slice(max).join(", ")} of the model ${id} for ${name}: \`max\` of its step fallback is ${max}.`;
    return [
      {
        at,
        message,
        fix: `Write \`max: ${ids.length}\` at the step fallback, or remove these fallbacks.`,
      },
    ];
  });
}

/** Reports targets whose first-byte timeout uses up the deadline of the pipeline. */
function late(
  model: ModelSettings,
  { name, deadlineMs }: PipelineSettings,
  { snapshot }: LintSubject,
): LintFinding[] {
  return model.targets.flatMap(({ provider, at }): LintFinding[] => {
    const timeouts = snapshot.providers.find((other) => other.name === provider)?.timeouts;
    if (timeouts === undefined || model.mode !== "chat") return [];
    const { firstByteMs, streamFirstByteMs = firstByteMs } = timeouts;
    if (deadlineMs > streamFirstByteMs) return [];
    const message = `Pipeline ${name} never uses the fallbacks of the model ${model.id} after a timeout of ${provider}: the first-byte timeout of ${streamFirstByteMs} ms uses up the deadline of ${deadlineMs} ms.`;
    return [
      {
        at,
        message,
        fix: `Write \`timeouts: { first_byte: … }\` of ${provider} below the deadline, or raise the deadline.`,
      },
    ];
  });
}
