/**
 * The public facts of a model: price, limits, capabilities. Money becomes a float here, for
 * clients.
 */

import { pricedAs } from "@sluice/runtime";
import type { Host, JsonObject, Model, Price, Rates } from "@sluice/contract";

/** Pico-dollars in a dollar. */
const PICO_PER_USD = 1e12;

/** Prices per token by LiteLLM's names. */
const COSTS: Readonly<Record<keyof Rates, string>> = {
  input: "input_cost_per_token",
  output: "output_cost_per_token",
  cacheRead: "cache_read_input_token_cost",
  cacheWrite: "cache_creation_input_token_cost",
  cacheWrite1h: "cache_creation_input_token_cost_above_1hr",
  reasoning: "output_cost_per_reasoning_token",
  inputAudio: "input_cost_per_audio_token",
  outputAudio: "output_cost_per_audio_token",
  cacheReadAudio: "cache_read_input_audio_token_cost",
  inputImage: "input_cost_per_image_token",
  outputImage: "output_cost_per_image_token",
  cacheReadImage: "cache_read_input_image_token_cost",
};

const NAMES = Object.entries(COSTS) as [keyof Rates, string][];

/** The list prices of a model's first target, US dollars per token; `null` for an unknown price. */
export function pricingOf(model: Model, host: Host): JsonObject | null {
  const price = priceOf(model, host);
  return price === undefined ? null : publicPrice(price);
}

/** The longest prompt of a model, in tokens, `null` when unknown. */
export function contextWindowOf(model: Model, host: Host): number | null {
  return model.info?.maxInputTokens ?? knownOf(model, host)?.contextWindow ?? null;
}

/** `model_info` of a model: limits, prices and capabilities. The operator's values win. */
export function modelInfoOf(model: Model, host: Host): JsonObject {
  const use =
    model.targets[0] === undefined ? undefined : host.providers.find(model.targets[0].provider);
  const { tools, streaming } = use?.translation.capabilities ?? {};
  const isChat = model.mode === "chat";
  return {
    id: model.id,
    mode: model.mode,
    max_input_tokens: contextWindowOf(model, host),
    max_output_tokens: model.info?.maxOutputTokens ?? null,
    input_cost_per_token: null,
    output_cost_per_token: null,
    ...pricingOf(model, host),
    ...(isChat && tools !== undefined && { supports_function_calling: tools }),
    ...(isChat && streaming !== undefined && { supports_native_streaming: streaming }),
    ...model.info?.supports,
  };
}

function publicPrice(price: Price): JsonObject {
  const costs: Record<string, JsonObject[string]> = {};
  for (const [name, to] of NAMES) {
    const pico = price[name];
    if (pico !== undefined) costs[to] = pico / PICO_PER_USD;
  }
  if (price.images !== undefined) {
    costs.output_cost_per_image = (price.images[0]?.picoUsd ?? 0) / PICO_PER_USD;
  }
  return { input_cost_per_token: null, output_cost_per_token: null, ...costs };
}

function priceOf({ targets: [target] }: Model, host: Host): Price | undefined {
  if (target === undefined) return undefined;
  const instance = host.providers.find(target.provider);
  return (
    target.price ??
    (instance === undefined ? undefined : host.prices.find(pricedAs(instance), target.model))
  );
}

function knownOf({ targets: [target] }: Model, host: Host) {
  const instance = target === undefined ? undefined : host.providers.find(target.provider);
  return target === undefined || instance === undefined
    ? undefined
    : host.directory.find(pricedAs(instance), target.model);
}
