/** What a step may say of its use: a step that others rely on runs, counts, and fails closed. */

import type { GuardrailUse, StepDefinition } from "@sluice/contract";
import type { Finding } from "../../config/finding.ts";
import type { PipelineSettings, StepSettings } from "../../config/snapshot.ts";
import { membersOfIdentity, membersWithoutSense } from "./condition.ts";

type Steps = ReadonlyMap<string, StepDefinition<never>>;

/**
 * What steps provide without which a request must not go on: their failures are never passed over.
 */
const AUTHORITY: ReadonlySet<string> = new Set(["identity", "limits", "guardrails", "cost"]);

/** Whether a use of a step may hand on more than once. */
export function isReentrant({ traits }: StepDefinition<never>, options: unknown): boolean {
  const reentrant = traits?.reentrant;
  return typeof reentrant === "function" ? reentrant(options as never) : reentrant === true;
}

/** The guardrails that a use of a step names; `undefined` for a step that runs none. */
export function guardrailUse(
  definition: StepDefinition<never> | undefined,
  options: unknown,
): GuardrailUse | undefined {
  return definition?.inspect?.(options as never).guardrails;
}

/** Whether a step runs for every request, and counts. */
export function isAlways({ when, active, isShadow }: StepSettings): boolean {
  return when === undefined && active === undefined && isShadow !== true;
}

/**
 * Whether an outer step is there whenever an inner one is: it always runs, or under the same
 * condition.
 */
export function covers(outer: StepSettings, inner: StepSettings): boolean {
  if (outer.isShadow === true)
    return inner.isShadow === true && covers({ ...outer, isShadow: false }, inner);
  return isAlways(outer) || conditionOf(outer) === conditionOf(inner);
}

/** Under what condition a step runs, as a text to compare. */
export function conditionOf({ when, active }: StepSettings): string {
  return JSON.stringify([when ?? null, active ?? null]);
}

/** Every fault of the uses of a pipeline's steps. */
export function useFaults(pipeline: PipelineSettings, definitions: Steps): Finding[] {
  return pipeline.steps.flatMap((step, index) => {
    const definition = definitions.get(step.use);
    if (definition === undefined) return [];
    const outer = pipeline.steps.slice(0, index);
    const faults = [
      ...applicationFaults(step, definition, outer, definitions),
      ...senseFaults(step, pipeline),
      ...shadowFaults(step, definition),
      ...skipFaults(step, definition),
    ];
    if (step.timeoutMs === 0)
      faults.push(["has a timeout of 0", "Write a duration such as 2s, or leave `timeout` out."]);
    return faults.map(([what, fix]) => ({
      at: step.at,
      message: `Step ${step.use} ${what}.`,
      fix,
    }));
  });
}

/** A fault and its fix. */
type Fault = readonly [what: string, fix: string];

function applicationFaults(
  step: StepSettings,
  definition: StepDefinition<never>,
  outer: readonly StepSettings[],
  definitions: Steps,
): Fault[] {
  const { when, active } = step;
  if (when === undefined && active === undefined) return [];
  const key = when === undefined ? "active" : "when";
  if (provides(definition, "identity")) {
    return [
      [`cannot have \`${key}\`: the gateway authenticates every request`, `Remove \`${key}\`.`],
    ];
  }
  if (definition.traits?.terminal === true) {
    return [
      [
        `cannot have \`${key}\`: other requests would get no answer`,
        `Remove \`${key}\`, or give these requests a pipeline with its own route.`,
      ],
    ];
  }
  const isKnown = outer.some(({ use }) => provides(definitions.get(use), "identity"));
  const early = when === undefined || isKnown ? [] : membersOfIdentity(when);
  if (early.length === 0) return [];
  const names = early.map((name) => `\`${name}\``).join(", ");
  return [
    [
      `has ${names} in \`when\` before it is known: the gateway knows the key after the step that authenticates, and reads the body after that`,
      `Put ${step.use} after that step, or select by \`header\`.`,
    ],
  ];
}

function senseFaults({ when }: StepSettings, { operation, name }: PipelineSettings): Fault[] {
  const members = when === undefined ? [] : membersWithoutSense(when, operation);
  return members.map((member) => [
    `never runs: requests of pipeline ${name} have no body, and \`when\` needs its \`${member}\``,
    `Remove \`${member}\`.`,
  ]);
}

function shadowFaults(
  { isShadow, options }: StepSettings,
  definition: StepDefinition<never>,
): Fault[] {
  if (isShadow !== true) return [];
  const why = provides(definition, "identity")
    ? "no request would be authenticated"
    : definition.traits?.terminal === true
      ? "requests would get no answer"
      : isReentrant(definition, options) ||
          (definition.traits?.concurrent === true && !provides(definition, "cached_reply"))
        ? "it calls the next step several times, and each call would reach the upstream"
        : undefined;
  return why === undefined ? [] : [[`cannot be in shadow: ${why}`, "Remove `mode: shadow`."]];
}

function skipFaults(
  { maySkip, options }: StepSettings,
  definition: StepDefinition<never>,
): Fault[] {
  if (maySkip !== true) return [];
  const runsGuardrails = guardrailUse(definition, options) !== undefined;
  const isAuthority =
    runsGuardrails || definition.order?.provides?.some((word) => AUTHORITY.has(word)) === true;
  if (isAuthority)
    return [["cannot have `on_error: skip`: requests would pass unchecked", "Remove `on_error`."]];
  if (definition.traits?.terminal === true)
    return [["cannot have `on_error: skip`: requests would get no answer", "Remove `on_error`."]];
  return [];
}

function provides(definition: StepDefinition<never> | undefined, capability: string): boolean {
  return definition?.order?.provides?.includes(capability) === true;
}
