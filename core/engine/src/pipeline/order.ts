/**
 * Checks the order of a pipeline's steps against what the definitions say, with the reason of each
 * rule.
 */

import type { StepDefinition } from "@sluice/contract";
import type { Finding } from "../config/finding.ts";
import type { PipelineSettings, StepSettings } from "../config/snapshot.ts";
import { conditionOf, covers } from "./steps/uses.ts";

type Steps = ReadonlyMap<string, StepDefinition<never>>;

/** Every fault of the order. `definitions` is keyed by the step's name. */
export function checkOrder(pipeline: PipelineSettings, definitions: Steps): Finding[] {
  const findings: Finding[] = [];
  const { steps } = pipeline;
  for (const [index, step] of steps.entries()) {
    const definition = definitions.get(step.use);
    if (definition === undefined) continue;
    const outer = steps.slice(0, index);
    findings.push(
      ...operationFault(pipeline, step, definition),
      ...terminalFault(steps, index, definition),
      ...repeatFault(outer, step),
      ...requireFaults(outer, step, definition, definitions),
      ...beforeFaults(outer, step, definition, definitions),
    );
  }
  const last = steps.at(-1);
  if (last === undefined || definitions.get(last.use)?.traits?.terminal !== true) {
    const known = last === undefined || definitions.has(last.use);
    if (known) {
      findings.push({
        at: last?.at ?? pipeline.at,
        message: `Nothing answers: the last step of pipeline ${pipeline.name} is not a terminal one.`,
        fix: "End the list with a terminal step, `provider` for example.",
      });
    }
  }
  return findings;
}

function operationFault(
  pipeline: PipelineSettings,
  step: StepSettings,
  definition: StepDefinition<never>,
): Finding[] {
  if (definition.operations === undefined || definition.operations.includes(pipeline.operation))
    return [];
  return [
    {
      at: step.at,
      message: `Step ${step.use} cannot serve the operation ${pipeline.operation}.`,
      fix: `Use it in a pipeline whose operation is one of: ${definition.operations.join(", ")}.`,
    },
  ];
}

function terminalFault(
  steps: readonly StepSettings[],
  index: number,
  definition: StepDefinition<never>,
): Finding[] {
  const next = steps[index + 1];
  if (definition.traits?.terminal !== true || next === undefined) return [];
  return [
    {
      at: next.at,
      message: `Step ${next.use} never runs: ${definition.name} before it ends the pipeline.`,
      fix: `Move ${next.use} before ${definition.name}, or remove it.`,
    },
  ];
}

function repeatFault(outer: readonly StepSettings[], step: StepSettings): Finding[] {
  const wordsOf = (one: StepSettings): string =>
    JSON.stringify([one.use, one.options, one.isShadow === true, conditionOf(one)]);
  const words = wordsOf(step);
  const first = outer.find((other) => wordsOf(other) === words);
  if (first === undefined) return [];
  return [
    {
      at: step.at,
      message: `Step ${step.use} is used twice with the same options.`,
      fix: "Remove one of them.",
    },
  ];
}

function requireFaults(
  outer: readonly StepSettings[],
  step: StepSettings,
  definition: StepDefinition<never>,
  all: Steps,
): Finding[] {
  return (definition.order?.requires ?? [])
    .filter(
      (rule) =>
        !outer.some(
          (other) =>
            all.get(other.use)?.order?.provides?.includes(rule.capability) && covers(other, step),
        ),
    )
    .flatMap((rule) => {
      const sometimes = outer.find((other) =>
        all.get(other.use)?.order?.provides?.includes(rule.capability),
      );
      if (sometimes !== undefined) {
        // A condition on the authenticating step has its own finding.
        if (rule.capability === "identity") return [];
        return {
          at: sometimes.at,
          message: `Step ${sometimes.use} does not run for every request that ${step.use} runs for, which needs it: ${rule.reason}.`,
          fix: `Remove \`when\`, \`active\` and \`mode\` of ${sometimes.use}, or write the same for ${step.use}.`,
        };
      }
      const providers = providersOf(rule.capability, all);
      return {
        at: step.at,
        message: `Step ${step.use} needs ${providers} before it: ${rule.reason}.`,
        fix: `Put ${providers} before ${step.use} in the list.`,
      };
    });
}

function beforeFaults(
  outer: readonly StepSettings[],
  step: StepSettings,
  definition: StepDefinition<never>,
  all: Steps,
): Finding[] {
  return (definition.order?.before ?? []).flatMap((rule) =>
    outer
      .filter((other) => all.get(other.use)?.order?.provides?.includes(rule.capability))
      .map((other) => ({
        at: step.at,
        message: `Step ${step.use} must come before ${other.use}: ${rule.reason}.`,
        fix: `Move ${step.use} before ${other.use} in the list.`,
      })),
  );
}

function providersOf(capability: string, all: Steps): string {
  const names = [...all.values()]
    .filter((definition) => definition.order?.provides?.includes(capability))
    .map(({ name }) => name);
  return names.length > 0 ? names.join(" or ") : `a step that provides ${capability}`;
}
