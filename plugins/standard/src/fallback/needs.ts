/** What a request needs of a model that is to stand in. Looked at only when a model has failed. */

import { isObject } from "@sluice/kit";
import { countPrompt } from "@sluice/runtime/openai";
import { TOOL_PARAMETERS } from "@sluice/kit/internals";
import type { Feature, GatewayRequest, JsonObject, JsonValue, Operation, TokenCounter } from "@sluice/contract";

/** The needs of one request. */
export interface Needs {
  readonly features: ReadonlySet<Feature>;
  /** The tokens of the prompt, counted once, by the reference API's way; `undefined` where no context window bounds them. */
  tokens(): Promise<number | undefined>;
}

/** A model that is to help has little time for being chosen; a count that takes longer is an estimate. */
const MAX_COUNT_MS = 50;

/** Parts of a message, in the words of the reference API. */
const PARTS: Readonly<Record<string, Feature>> = {
  image_url: "images",
  input_image: "images",
  input_audio: "audio",
  file: "documents",
  input_file: "documents",
};

/** The needs of a request. */
export function needsOf({ document }: GatewayRequest, operation: Operation, tokens: TokenCounter): Needs {
  const { value } = document;
  let counted: Promise<number | undefined> | undefined;
  const count = async (): Promise<number | undefined> => {
    // The limit of an embeddings model holds for each of its inputs; an image model's prompt is bounded by its text.
    if (operation !== "chat") return undefined;
    return (await countPrompt(value, tokens, { maxWaitMs: MAX_COUNT_MS })).tokens;
  };
  return { features: featuresOf(value), tokens: () => (counted ??= count()) };
}

function featuresOf(body: JsonObject): ReadonlySet<Feature> {
  const features = new Set<Feature>();
  if (TOOL_PARAMETERS.some((name) => body[name] !== undefined && body[name] !== null)) features.add("tools");
  if (isObject(body.response_format) && body.response_format.type === "json_schema") features.add("schema");
  if (listOf(body.modalities).includes("audio")) features.add("speech");
  for (const message of listOf(body.messages)) {
    for (const part of listOf(isObject(message) ? message.content : undefined)) {
      const feature = isObject(part) && typeof part.type === "string" ? PARTS[part.type] : undefined;
      if (feature !== undefined) features.add(feature);
    }
  }
  return features;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}
