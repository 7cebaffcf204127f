/**
 * Checks of guardrails in pipelines. The configuration is refused when a required guardrail would
 * not run.
 */

import {
  GatewayError,
  type GuardrailCatalog,
  type Operation,
  type StepDefinition,
  type StepFunction,
  type TextPart,
} from "@sluice/contract";
import { nameFix } from "../config/validate/explain.ts";
import type { Finding } from "../config/finding.ts";
import type { GuardrailUseSettings, PipelineSettings } from "../config/snapshot.ts";
import { guardrailUse, isAlways } from "./steps/uses.ts";

type Steps = ReadonlyMap<string, StepDefinition<never>>;

/** Operations that carry texts. */
const WITH_TEXTS: ReadonlySet<Operation> = new Set<Operation>([
  "chat",
  "embeddings",
  "images",
  "passthrough",
]);

/**
 * Names that no guardrail has, and pipelines that a guardrail which is on by default would not run
 * in.
 */
export function guardrailFaults(
  pipeline: PipelineSettings,
  definitions: Steps,
  guardrails: readonly GuardrailUseSettings[],
): Finding[] {
  const known = guardrails.map(({ name }) => name);
  const findings = usesOf(pipeline, definitions)
    .filter(({ name }) => !known.includes(name))
    .map(({ name, at }) => ({
      at,
      message: `The step names the guardrail "${name}", which is not under \`guardrails\` of gateway.yaml.`,
      fix: nameFix(name, known, "add it to `guardrails`"),
    }));
  const standing = guardrails.find(({ settings }) => settings.defaultOn);
  if (standing !== undefined && !isGuarded(pipeline, definitions)) {
    findings.push({
      at: pipeline.at,
      message: `Pipeline ${pipeline.name} has no step \`guardrails\`, and the guardrail ${standing.name} is on by default.`,
      fix: "Add `guardrails` to its steps, after auth.",
    });
  }
  const steps = pipeline.steps.filter(
    ({ use, options }) => guardrailUse(definitions.get(use), options) !== undefined,
  );
  if (
    standing !== undefined &&
    isGuarded(pipeline, definitions) &&
    steps.length > 0 &&
    !steps.some(isAlways)
  ) {
    findings.push({
      at: steps[0]?.at ?? pipeline.at,
      message: `The guardrail ${standing.name} is on by default, and every step \`guardrails\` of pipeline ${pipeline.name} runs for some requests only, or in shadow.`,
      fix: "Remove `when`, `active` and `mode` of one of them, or `default_on` of the guardrail; a guardrail has a `mode: shadow` of its own.",
    });
  }
  return findings;
}

/** Guardrails that judge whole texts only, in steps whose streams are judged in windows. */
export function streamFaults(
  pipelines: readonly PipelineSettings[],
  definitions: Steps,
  catalog: GuardrailCatalog,
): Finding[] {
  return pipelines.flatMap((pipeline) =>
    usesOf(pipeline, definitions, catalog)
      .filter(
        ({ name, isWindowed }) =>
          isWindowed &&
          catalog.find(name)?.guardrail.reach === Infinity &&
          hasReplies(catalog, name),
      )
      .map(({ name, at }) => ({
        at,
        message: `The guardrail ${name} judges whole texts only and cannot serve streams in the mode window.`,
        fix: "Write `stream: hold` in the step's options, or `stream: observe` to have it reported only.",
      })),
  );
}

/**
 * Findings about `ask_again`: a guardrail that may ask for another reply, in a step that does not
 * ask, and a step that asks in a pipeline of another operation than chat.
 */
export function askAgainFaults(
  pipelines: readonly PipelineSettings[],
  definitions: Steps,
  catalog: GuardrailCatalog,
): Finding[] {
  return pipelines.flatMap(({ name: pipeline, steps, operation }) =>
    steps.flatMap(({ use, options, at }) => {
      const named = guardrailUse(definitions.get(use), options);
      if (named === undefined) return [];
      const isChat = operation === "chat";
      if (named.asksAgain === true) return isChat ? [] : [nothingToAsk(pipeline, operation, at)];
      // A guardrail that is on by default refuses other replies, because only chat replies are
      // requested again.
      const standing = isChat ? catalog.list().filter(({ settings }) => settings.defaultOn) : [];
      return [...new Set([...named.output, ...standing.map(({ name }) => name)])]
        .filter((name) => {
          const instance = catalog.find(name);
          return instance?.guardrail.asksAgain === true && instance.settings.mode === "enforce";
        })
        .map((name) => ({
          at,
          message: `The guardrail ${name} may have a reply asked for once more, and this step does not do so.`,
          fix: isChat
            ? `Write \`ask_again: true\` and \`stream: hold\` in the step's options, or remove \`ask_again\` from ${name}.`
            : `Name a guardrail without \`ask_again\`: only replies of chat are asked for again, and the operation is ${operation}.`,
        }));
    }),
  );
}

function nothingToAsk(pipeline: string, operation: Operation, at: Finding["at"]): Finding {
  return {
    at,
    message: `Pipeline ${pipeline} cannot ask for a reply once more: its operation is ${operation}, and only replies of chat are asked for again.`,
    fix: "Remove `ask_again` from the step's options.",
  };
}

/**
 * Whether requests of the pipeline pass a step that runs guardrails, at least those that ask for
 * some: for them it runs whatever its condition says. One without texts needs none.
 */
export function isGuarded(pipeline: PipelineSettings, definitions: Steps): boolean {
  if (!WITH_TEXTS.has(pipeline.operation)) return true;
  return pipeline.steps.some(
    ({ use, options, isShadow }) =>
      isShadow !== true && guardrailUse(definitions.get(use), options) !== undefined,
  );
}

/**
 * A terminal step that refuses requests with required guardrails on a route that would not run
 * them.
 */
export function refuseUnguarded(run: StepFunction): StepFunction {
  return (ctx, next) => {
    const { identity, request } = ctx.exchange;
    const asked = identity?.guardrails?.[0] ?? request?.guardrails?.[0];
    if (asked === undefined) return run(ctx, next);
    throw new GatewayError(
      "plugin_failed",
      `The guardrail ${asked} must run, and the pipeline of this route has no step guardrails. The operator can add it.`,
    );
  };
}

/** The streamed texts of replies. Other parts of a stream are checked whole. */
const REPLY_PARTS: ReadonlySet<TextPart> = new Set<TextPart>([
  "content",
  "refusal",
  "reasoning",
  "arguments",
]);

/** Whether a guardrail checks texts of replies. */
function hasReplies(catalog: GuardrailCatalog, name: string): boolean {
  return catalog.find(name)?.settings.scope?.some((part) => REPLY_PARTS.has(part)) ?? true;
}

interface Use {
  readonly name: string;
  readonly isWindowed: boolean;
  readonly at: Finding["at"];
}

function usesOf(
  { steps }: PipelineSettings,
  definitions: Steps,
  catalog?: GuardrailCatalog,
): Use[] {
  return steps.flatMap(({ use, options, at }) => {
    const named = guardrailUse(definitions.get(use), options);
    if (named === undefined) return [];
    const standing = (catalog?.list() ?? [])
      .filter(({ settings }) => settings.defaultOn)
      .map(({ name }) => name);
    const outputs = new Set([...named.output, ...standing]);
    return [...new Set([...named.input, ...outputs])].map((name) => ({
      name,
      at,
      isWindowed:
        outputs.has(name) &&
        named.stream === "window" &&
        catalog?.find(name)?.settings.mode !== "shadow",
    }));
  });
}
