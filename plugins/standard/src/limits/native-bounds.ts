/**
 * How long the replies to a native request may be: by the members that bound them in the dialect of
 * its path, because others are ignored there.
 */

import { isObject } from "@sluice/kit";
import type { ImageUsage, JsonObject, JsonValue } from "@sluice/contract";

/**
 * Members that bound a reply, at the end of a path; `within`: the members of the body in which they
 * stand.
 */
interface Bounds {
  readonly path: RegExp;
  readonly names: readonly string[];
  readonly within?: readonly string[];
}

/**
 * Sources: the references that `openai-endpoints.ts` and the native endpoints of the providers
 * name.
 */
const BOUNDS: readonly Bounds[] = [
  { path: /(?:^|\/)completions\/?$/, names: ["max_completion_tokens", "max_tokens"] },
  { path: /(?:^|\/)responses\/?$/, names: ["max_output_tokens"] },
  { path: /(?:^|\/)messages\/?$/, names: ["max_tokens"] },
  { path: /(?:^|\/)complete\/?$/, names: ["max_tokens_to_sample"] },
  { path: /(?:^|\/)v[12]\/(?:chat|generate)\/?$/, names: ["max_tokens"] },
  { path: /(?:^|\/)api\/(?:chat|generate)\/?$/, names: ["num_predict"], within: ["options"] },
  {
    path: /:(?:g|streamG)enerateContent$/,
    names: ["maxOutputTokens", "max_output_tokens"],
    within: ["generationConfig", "generation_config"],
  },
  { path: /\/converse(?:-stream)?$/, names: ["maxTokens"], within: ["inferenceConfig"] },
];

/** Of a path that tells no dialect, as Bedrock's InvokeModel: every name in every place. */
const ANY: readonly string[] = [
  "max_completion_tokens",
  "max_tokens",
  "max_output_tokens",
  "max_tokens_to_sample",
  "maxOutputTokens",
  "maxTokens",
  "maxTokenCount",
  "max_new_tokens",
  "max_gen_len",
  "num_predict",
];
const ANYWHERE: readonly string[] = [
  "generationConfig",
  "generation_config",
  "inferenceConfig",
  "textGenerationConfig",
  "options",
];

/** How many replies are made: of `best_of`, all are billed. */
const COUNTS = ["n", "best_of", "candidateCount", "candidate_count", "num_generations"];

/**
 * The longest reply that a body asks for, in tokens, where it says one: the largest of its bounds,
 * because the upstream may heed any.
 */
export function nativeBound(body: JsonObject, endpoint: string): number | undefined {
  const known = BOUNDS.find(({ path }) => path.test(endpoint));
  const places =
    known === undefined
      ? [body, ...nested(body)]
      : (known.within?.map((name) => body[name]) ?? [body]);
  const names = known?.names ?? ANY;
  const bounds = places
    .filter(isObject)
    .flatMap((place) => names.map((name) => positive(place[name]) ?? 0));
  const max = Math.max(0, ...bounds);
  return max === 0 ? undefined : max;
}

/** How many replies a body asks for. */
export function nativeReplies(body: JsonObject): number {
  const each = Math.max(
    1,
    ...[body, ...nested(body)].flatMap((place) => COUNTS.map((name) => positive(place[name]) ?? 1)),
  );
  return each * promptsOf(body);
}

/** The prompts of a completion: texts, or lists of tokens. A list of numbers is one prompt. */
function promptsOf({ prompt }: JsonObject): number {
  if (!Array.isArray(prompt)) return 1;
  const prompts = prompt as readonly JsonValue[];
  return prompts.some((item) => typeof item === "number") ? 1 : Math.max(1, prompts.length);
}

/** Members that count images, at the top of a body or in its parameters (Imagen). */
const IMAGE_COUNTS = ["n", "samples", "num_images", "numberOfImages", "sampleCount"];

/**
 * The images that a native request asks for, of one size and quality. `form`: the text fields of a
 * form body.
 */
export function nativeImages(
  body: JsonObject,
  form: (name: string) => string | undefined,
): ImageUsage {
  const places = [body, ...(isObject(body.parameters) ? [body.parameters] : [])];
  const counts = places.flatMap((place) => IMAGE_COUNTS.map((name) => positive(place[name]) ?? 1));
  const word = (name: string): string | undefined =>
    typeof body[name] === "string" ? body[name] : form(name);
  const size = word("size");
  const quality = word("quality");
  return {
    count: Math.max(positive(form("n")) ?? 1, ...counts),
    ...(size === undefined ? {} : { size }),
    ...(quality === undefined ? {} : { quality }),
  };
}

/**
 * A whole number above 0: 0 and less are no bound to those who take them. Some upstreams take a
 * text for a number (protobuf's JSON, lax models in Python, which read "1_28" too).
 */
export function positive(value: unknown): number | undefined {
  const number = typeof value === "string" ? Number(value.replaceAll("_", "")) : value;
  return typeof number === "number" && number > 0 ? Math.ceil(number) : undefined;
}

function nested(body: JsonObject): JsonObject[] {
  return ANYWHERE.map((name) => body[name]).filter(isObject);
}
