/**
 * The lints `unreachable_target`, `untagged_requests` and `unpriced_model`: targets that are never
 * called, that untagged requests reach, or that have no known price.
 */

import type { BalanceStrategy, ModelMode, Operation } from "@sluice/contract";
import type { ModelSettings, PipelineSettings } from "../config/snapshot.ts";
import { type LintFinding, type LintSubject, capabilitiesOf } from "./rule.ts";

const MODES: Partial<Record<Operation, ModelMode>> = {
  chat: "chat",
  embeddings: "embedding",
  images: "image",
};

/** Reports targets, weights and priorities that no pipeline uses. */
export function unreachableTargets(subject: LintSubject): LintFinding[] {
  const { snapshot } = subject;
  return snapshot.models.flatMap((model) => {
    const serving = snapshot.pipelines.filter(({ operation }) => MODES[operation] === model.mode);
    if (serving.length === 0) {
      const message = `No pipeline serves the model ${model.id}: none has the operation of the mode ${model.mode}.`;
      return [
        { at: model.at, message, fix: "Add a pipeline of that operation, or remove the model." },
      ];
    }
    return [
      ...twice(model),
      ...neverChosen(model, serving, subject),
      ...unread(model, serving, subject),
    ];
  });
}

function twice({ id, targets }: ModelSettings): LintFinding[] {
  return targets.flatMap((target, index) => {
    const isKnown = targets
      .slice(0, index)
      .some((other) => other.provider === target.provider && other.model === target.model);
    if (!isKnown) return [];
    const message = `The target ${target.provider}/${target.model} occurs twice in the model ${id}: both are one deployment.`;
    return [{ at: target.at, message, fix: "Remove one, and give the other the weight of both." }];
  });
}

function neverChosen(
  model: ModelSettings,
  serving: readonly PipelineSettings[],
  { definitions }: LintSubject,
): LintFinding[] {
  const [, second] = model.targets;
  const choosing = serving.filter(({ steps }) =>
    steps.some(({ use }) => capabilitiesOf(use, definitions).includes("target")),
  );
  const [fixed] = serving.filter((pipeline) => !choosing.includes(pipeline));
  if (second === undefined || fixed === undefined) return [];
  const message = `Pipeline ${fixed.name} calls only the first target of the model ${model.id}: it has no step balance.`;
  return [
    {
      at: second.at,
      message,
      fix: "Add `balance` before `provider` in the pipeline, or remove the other targets.",
    },
  ];
}

/** Reports priorities that the strategy ignores, and weights that are all 0. */
function unread(
  model: ModelSettings,
  serving: readonly PipelineSettings[],
  { definitions }: LintSubject,
): LintFinding[] {
  const { targets, id } = model;
  const [first] = targets;
  if (first === undefined || targets.length < 2) return [];
  const strategies = new Set(
    serving.flatMap(({ steps }) =>
      steps
        .filter(({ use }) => capabilitiesOf(use, definitions).includes("target"))
        .map(
          ({ options }) =>
            model.balance ?? (options["strategy"] as BalanceStrategy | undefined) ?? "weighted",
        ),
    ),
  );
  if (strategies.size === 0) return [];
  const [strategy] = strategies;
  const weights = new Set(targets.map(({ weight = 1 }) => weight));
  const priorities = new Set(targets.map(({ priority = 0 }) => priority));
  const findings: LintFinding[] = [];
  if (priorities.size > 1 && !strategies.has("priority")) {
    const message = `The priorities of the model ${id} have no effect: the strategy ${strategy} ignores them.`;
    findings.push({
      at: first.at,
      message,
      fix: "Write `balance: priority` in the model, or leave the priorities out.",
    });
  }
  if (weights.size === 1 && weights.has(0)) {
    const message = `Every target of the model ${id} has the weight 0, which means that it serves only when no other target can.`;
    findings.push({
      at: first.at,
      message,
      fix: "Give each target a weight: its share of the requests.",
    });
  }
  return findings;
}

/** Reports models whose tags leave it open which target a request without a matching tag has. */
export function untaggedRequests({ snapshot }: LintSubject): LintFinding[] {
  return snapshot.models.flatMap(({ id, matchTags, targets }) => {
    const first = targets.find(({ tags }) => tags !== undefined);
    if (matchTags === undefined || first === undefined) return [];
    if (targets.some(({ tags }) => tags?.includes("default") === true)) return [];
    const message = `No target of the model ${id} is tagged \`default\`: requests without tags use every target, and requests with other tags are refused.`;
    return [
      { at: first.at, message, fix: "Add `default` to the tags of a target for these requests." },
    ];
  });
}

/**
 * Reports targets without a price in the target, in prices.yaml or in the built-in table. Wildcards
 * are left out: their prices are known at the request.
 */
export function unpricedModels({ snapshot, definitions }: LintSubject): LintFinding[] {
  const uses = new Map(
    snapshot.providers.map(({ name, use }) => [name, definitions.ownName("provider", use)]),
  );
  return snapshot.models.flatMap(({ id, targets }) =>
    targets
      .filter(({ price, model, provider }) => {
        return (
          price === undefined &&
          !model.includes("*") &&
          snapshot.prices.find(uses.get(provider) ?? "", model) === undefined
        );
      })
      .map(({ provider, model, at }) => ({
        at,
        message: `The price of ${provider}/${model}, a target of the model ${id}, is unknown: its rows have no cost, and the gateway refuses requests of keys with a budget.`,
        fix: `Give the target a \`price\`, or add ${uses.get(provider) ?? provider}/${model} to prices.yaml.`,
      })),
  );
}
