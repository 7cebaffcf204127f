/** The lint `unreachable_fallback`: stand-ins that no pipeline ever asks. */

import type { FallbackClass, ModelMode, Operation } from "@sluice/spec";
import type { ModelSettings, PipelineSettings } from "../config/snapshot.ts";
import { type Doubt, type LintSubject, wordsOf } from "./rule.ts";

const MODES: Partial<Record<Operation, ModelMode>> = { chat: "chat", embeddings: "embedding", images: "image" };
/** Classes that `general` of the step includes. */
const PARTS: ReadonlySet<FallbackClass> = new Set<FallbackClass>(["rate_limit", "overloaded", "timeout"]);

/** Fallbacks that a pipeline never asks, each with the reason. */
export function unreachableStandIns(subject: LintSubject): Doubt[] {
  const { snapshot, definitions } = subject;
  return snapshot.models.flatMap((model) => {
    const lists = Object.entries(model.fallbacks ?? {}) as [FallbackClass, readonly string[]][];
    if (lists.every(([, ids]) => ids.length === 0)) return [];
    return snapshot.pipelines
      .filter(({ operation, steps }) => MODES[operation] === model.mode && steps.some(({ use }) => use === "provider"))
      .flatMap((pipeline): Doubt[] => {
        const step = pipeline.steps.find(({ use }) => wordsOf(use, definitions).includes("fallback"));
        if (step === undefined) {
          const message = `The fallbacks of the model ${model.id} are never asked in pipeline ${pipeline.name}, which has no step fallback.`;
          return [{ at: model.at, message, fix: "Add `fallback` before `balance` in the pipeline, or remove the fallbacks." }];
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
): Doubt[] {
  return lists.flatMap(([name, ids]): Doubt[] => {
    if (ids.length === 0) return [];
    if (Array.isArray(classes) && !classes.includes(name) && !(PARTS.has(name) && classes.includes("general"))) {
      const message = `The fallbacks of the model ${id} for ${name} are never asked in pipeline ${pipeline}: \`classes\` of its step fallback leaves them out.`;
      return [{ at, message, fix: `Add ${name} to \`classes\`, or remove the list.` }];
    }
    if (typeof max !== "number" || ids.length <= max) return [];
    const message = `The fallbacks ${ids.slice(max).join(", ")} of the model ${id} for ${name} are never asked in pipeline ${pipeline}: \`max\` of its step fallback is ${max}.`;
    return [{ at, message, fix: `Write \`max: ${ids.length}\` at the step fallback, or remove them.` }];
  });
}

/** Targets whose silence takes all the time that a request has. */
function late(model: ModelSettings, { name, deadlineMs }: PipelineSettings, { snapshot }: LintSubject): Doubt[] {
  return model.targets.flatMap(({ provider, at }): Doubt[] => {
    const timeouts = snapshot.providers.find((other) => other.name === provider)?.timeouts;
    if (timeouts === undefined || model.mode !== "chat") return [];
    const { firstByteMs, streamFirstByteMs = firstByteMs } = timeouts;
    if (deadlineMs > streamFirstByteMs) return [];
    const message = `The fallbacks of the model ${model.id} are never asked in pipeline ${name} after a silence of ${provider}: its time to the first byte, ${streamFirstByteMs} ms, takes the deadline of ${deadlineMs} ms.`;
    return [
      { at, message, fix: `Write \`timeouts: { first_byte: … }\` of ${provider} below the deadline, or a longer deadline.` },
    ];
  });
}
