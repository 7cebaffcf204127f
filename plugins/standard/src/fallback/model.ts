/**
 * Checks a stand-in model: visible to the key, of the same mode, with a target that can serve the
 * request.
 */

import { leftOutByTags, pricedAs, routedModel } from "@sluice/runtime";
import type {
  Exchange,
  Feature,
  GatewayRequest,
  Host,
  Model,
  ModelMode,
  Operation,
  ProviderInstance,
  Target,
} from "@sluice/contract";
import type { Needs } from "./needs.ts";

/**
 * A checked model: the targets that can serve the request, and the skipped ones as `name (reason)`.
 */
export interface Candidate {
  readonly model: Model | undefined;
  readonly skipped: readonly string[];
  /** Whether the model is hidden from the key. */
  readonly isUnseen?: true;
}

/** The request that a candidate is checked for. */
export interface Wanted {
  /** The model that the client asked for. */
  readonly asked: Model;
  readonly exchange: Exchange;
  readonly host: Host;
  readonly needs: Needs;
}

const MODES: Partial<Record<Operation, ModelMode>> = {
  chat: "chat",
  embeddings: "embedding",
  images: "image",
};

/** The operator's `supports_…` fields of a model, by LiteLLM's names. */
const SUPPORTS: Readonly<Record<Feature, string>> = {
  tools: "supports_function_calling",
  images: "supports_vision",
  audio: "supports_audio_input",
  documents: "supports_pdf_input",
  speech: "supports_audio_output",
  schema: "supports_response_schema",
};

/**
 * Looks up a stand-in. An unknown model and a forbidden one are skipped with the same word, so the
 * key cannot tell them apart.
 */
export async function candidateOf(id: string, wanted: Wanted): Promise<Candidate> {
  const { asked, exchange, host } = wanted;
  const { identity, request, operation } = exchange;
  const found = host.models.find(id);
  if (identity === undefined || request === undefined) return { model: undefined, skipped: [] };
  const model = found === undefined ? undefined : routedModel(found, exchange);
  if (found !== undefined && model !== found) {
    for (const target of leftOutByTags(found, model))
      exchange.note("fallback", "left out by tags", target.id);
  }
  if (model === undefined || !host.authority.mayUse(identity, model)) {
    return { model: undefined, skipped: [`${id} (not_found)`], isUnseen: true };
  }
  if (model.mode !== asked.mode && model.mode !== MODES[operation])
    return { model: undefined, skipped: [`${id} (mode)`] };
  if (model.targets.length === 0) return { model: undefined, skipped: [`${id} (provider)`] };
  const able: Target[] = [];
  const skipped: string[] = [];
  for (const target of model.targets) {
    const lack = await lackOf(target, model, request, wanted);
    if (lack === undefined) able.push(target);
    else skipped.push(`${target.id} (${lack})`);
  }
  if (able.length === 0) return { model: undefined, skipped };
  return { model: skipped.length === 0 ? model : { ...model, targets: able }, skipped };
}

/** The feature that a target lacks for a request. An unknown feature counts as present. */
async function lackOf(
  target: Target,
  model: Model,
  request: GatewayRequest,
  { exchange, host, needs }: Wanted,
): Promise<string | undefined> {
  const instance = host.providers.find(target.provider);
  if (instance === undefined) return "provider";
  const { capabilities } = instance.translation;
  if (!capabilities.operations.includes(exchange.operation)) return "operation";
  if (request.stream && !capabilities.streaming) return "streaming";
  for (const feature of needs.features) {
    if (!canDo(feature, target, model, instance)) return feature;
  }
  const most =
    model.info?.maxInputTokens ??
    host.directory.find(pricedAs(instance), target.model)?.contextWindow;
  if (most === undefined) return undefined;
  const tokens = await needs.tokens();
  return tokens !== undefined && tokens > most ? "context" : undefined;
}

/**
 * The operator's declaration wins over the provider's, except for tools at a provider that has
 * none.
 */
function canDo(
  feature: Feature,
  target: Target,
  { info }: Model,
  { translation: { capabilities } }: ProviderInstance,
): boolean {
  if (feature === "tools" && !capabilities.tools) return false;
  return (
    info?.supports[SUPPORTS[feature]] ?? capabilities.supports?.(feature, target.model) ?? true
  );
}
