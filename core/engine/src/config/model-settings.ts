/** The models of gateway.yaml as settings. */

import type { ModelInfo, ModelMode, Target } from "@sluice/contract";

import { parseDuration } from "@sluice/kit";
import { priceOf } from "./prices/section.ts";
import type { ResolvedDocument } from "./files/references.ts";
import type { InfoSection, ModelSection, TargetSection } from "./schema/models.ts";
import type { ModelSettings } from "./snapshot.ts";

/** The settings of every entry, in the order of the file. */
export function modelsOf(
  gateway: ResolvedDocument,
  models: readonly ModelSection[],
): ModelSettings[] {
  return models.map((model, index) => ({
    id: model.id,
    mode: modeOf(model.mode) ?? "chat",
    targets: model.targets.map((target, place) => ({
      provider: target.provider,
      model: target.model,
      ...priceOfTarget(target, gateway.document.file),
      ...(target.drop_params === true ? { dropParams: true } : {}),
      ...(target.forward_metadata === true ? { forwardMetadata: true } : {}),
      ...(target.forward === undefined || target.forward.length === 0
        ? {}
        : { forward: target.forward }),
      ...balanceOfTarget(target),
      ...(target.rpm === undefined ? {} : { rpm: target.rpm }),
      ...(target.tpm === undefined ? {} : { tpm: target.tpm }),
      ...tagsOfTarget(target, model),
      at: gateway.document.keyAt(["models", index, "targets", place]),
    })),
    ...(model.balance === undefined ? {} : { balance: model.balance }),
    accessGroups: model.access_groups,
    ...(model.only_named ? { onlyNamed: true } : {}),
    ...(model.fallbacks === undefined ? {} : { fallbacks: model.fallbacks }),
    ...(model.info === undefined ? {} : { info: infoOf(model.info) }),
    ...matchOf(model),
    at: gateway.document.keyAt(["models", index]),
  }));
}

/** The mode that a word stands for; `undefined` for none. */
export function modeOf(word: unknown): ModelMode | undefined {
  return typeof word === "string" ? MODES[word] : undefined;
}

const MODES: Readonly<Record<string, ModelMode>> = {
  chat: "chat",
  embedding: "embedding",
  embeddings: "embedding",
  image: "image",
  images: "image",
};

function priceOfTarget({ price: section }: TargetSection, file: string): Pick<Target, "price"> {
  const price = section === undefined ? undefined : priceOf(section, file);
  return price === undefined ? {} : { price };
}

/**
 * What the step `balance` goes by. Defaults are left out: a target says what is special about it.
 */
function balanceOfTarget({
  weight,
  priority,
  max_parallel: maxParallel,
  queue,
  queue_timeout: timeout,
}: TargetSection) {
  return {
    ...(weight === 1 ? {} : { weight }),
    ...(priority === 0 ? {} : { priority }),
    ...(maxParallel === undefined
      ? {}
      : { maxParallel, queue, queueTimeoutMs: parseDuration(timeout) ?? 0 }),
  };
}

/** The tags of a target: its own, else those of its model. An empty list says that it has none. */
function tagsOfTarget(target: TargetSection, model: ModelSection): { tags?: readonly string[] } {
  const tags = target.tags ?? model.tags;
  return tags.length === 0 ? {} : { tags };
}

function matchOf(model: ModelSection): Pick<ModelSettings, "matchTags"> {
  const isTagged = model.targets.some((target) => tagsOfTarget(target, model).tags !== undefined);
  return isTagged ? { matchTags: model.match_tags } : {};
}

function infoOf({
  max_input_tokens: maxInputTokens,
  max_output_tokens: maxOutputTokens,
  ...supports
}: InfoSection): ModelInfo {
  return {
    ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    supports,
  };
}
