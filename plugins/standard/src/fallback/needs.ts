/** The features that a request needs of a stand-in model. They are read only after a failure. */

import { isObject } from "@sluice/kit";
import { countPrompt } from "@sluice/runtime/openai";
import { TOOL_PARAMETERS } from "@sluice/kit/internals";
import type {
  Feature,
  GatewayRequest,
  JsonObject,
  JsonValue,
  Operation,
  TokenCounter,
} from "@sluice/contract";

/** The needs of one request. */
export interface Needs {
  readonly features: ReadonlySet<Feature>;
  /**
   * The prompt's tokens, counted once as the reference API counts; `undefined` when no context
   * window bounds them.
   */
  tokens(): Promise<number | undefined>;
}

/** The maximum time to count the prompt. A longer count is replaced by an estimate. */
const MAX_COUNT_MS = 50;

/** Types of message parts in the reference API. */
const PARTS: Readonly<Record<string, Feature>> = {
  image_url: "images",
  input_image: "images",
  input_audio: "audio",
  file: "documents",
  input_file: "documents",
};

/** The needs of a request. */
export function needsOf(
  { document }: GatewayRequest,
  operation: Operation,
  tokens: TokenCounter,
): Needs {
  const { value } = document;
  let counted: Promise<number | undefined> | undefined;
  const count = async (): Promise<number | undefined> => {
    // The limit of an embeddings model holds for each of its inputs; an image model's prompt is
    // bounded by its text.
    if (operation !== "chat") return undefined;
    return (await countPrompt(value, tokens, { maxWaitMs: MAX_COUNT_MS })).tokens;
  };
  return { features: featuresOf(value), tokens: () => (counted ??= count()) };
}

function featuresOf(body: JsonObject): ReadonlySet<Feature> {
  const features = new Set<Feature>();
  if (TOOL_PARAMETERS.some((name) => body[name] !== undefined && body[name] !== null))
    features.add("tools");
  if (isObject(body.response_format) && body.response_format.type === "json_schema")
    features.add("schema");
  if (listOf(body.modalities).includes("audio")) features.add("speech");
  for (const message of listOf(body.messages)) {
    for (const part of listOf(isObject(message) ? message.content : undefined)) {
      const feature =
        isObject(part) && typeof part.type === "string" ? PARTS[part.type] : undefined;
      if (feature !== undefined) features.add(feature);
    }
  }
  return features;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}
