/** Facts about Google's models by their names. Data and functions. */

import { supports as claudeSupports } from "@sluice/provider-anthropic/messages";
import type { Feature } from "@sluice/contract";

/**
 * Gemini 2.5 and later take JSON Schema itself (ai.google.dev/gemini-api/docs/structured-output).
 */
const JSON_SCHEMA = /gemini-(?:2\.5|[3-9]|\d{2})|gemini-(?:flash|pro)(?:-lite)?-latest/;
/**
 * Gemini 3 and later: thinking by level, signatures that are checked, ids of calls, media in
 * results.
 */
const THIRD = /gemini-(?:[3-9]|\d{2})|gemini-(?:flash|pro)(?:-lite)?-latest/;
/** Models whose reply is an image by `generateContent`. */
const IMAGES = /gemini-.*-image/;
const IMAGEN = /^imagen/;
const EMBEDDINGS = /embedding|^multilingual-e5/;

/** Whether the model takes JSON Schema beside the older subset. */
export function takesJsonSchema(model: string): boolean {
  return JSON_SCHEMA.test(model);
}

/** Whether the model is of the third generation or later. */
export function isThird(model: string): boolean {
  return THIRD.test(model);
}

export function isImagen(model: string): boolean {
  return IMAGEN.test(model);
}

/** Claude, which Vertex AI serves in Anthropic's own dialect. */
export function isClaude(model: string): boolean {
  return /^(?:publishers\/anthropic\/models\/)?claude/.test(model);
}

/**
 * The form in which a model takes a request to think: a level, a budget, or none; and whether
 * thinking can be turned off.
 */
export interface Thinking {
  readonly by: "level" | "budget" | "nothing";
  readonly isOptional: boolean;
  /**
   * Whether MINIMAL and MEDIUM are levels of it; others go to the neighbour
   * (ai.google.dev/gemini-api/docs/thinking).
   */
  readonly levels: readonly string[];
}

const ALL_LEVELS = ["MINIMAL", "LOW", "MEDIUM", "HIGH"];

/** The thinking of a model. Third generation: Pro has no MINIMAL, and Pro 3.0 no MEDIUM. */
export function thinkingOf(model: string): Thinking {
  if (isThird(model)) {
    if (/gemini-3-pro/.test(model))
      return { by: "level", isOptional: false, levels: ["LOW", "HIGH"] };
    const isPro = /-pro/.test(model);
    return { by: "level", isOptional: !isPro, levels: isPro ? ALL_LEVELS.slice(1) : ALL_LEVELS };
  }
  if (/gemini-2\.5/.test(model))
    return { by: "budget", isOptional: !/2\.5-pro/.test(model), levels: [] };
  return { by: "nothing", isOptional: true, levels: [] };
}

/**
 * Whether the model thinks unless a request says otherwise: Gemini 2.5 and later, Flash-Lite
 * excepted.
 */
export function thinks(model: string): boolean {
  return thinkingOf(model).by !== "nothing" && !model.includes("flash-lite") && !IMAGES.test(model);
}

/**
 * Images that one call can make: Imagen four (ai.google.dev/gemini-api/docs/imagen), Gemini one.
 */
export function imagesPerCall(model: string): number {
  return isImagen(model) ? 4 : 1;
}

/** The features of a model, as far as its name shows them. */
export function supports(feature: Feature, model: string): boolean | undefined {
  if (isClaude(model)) return claudeSupports(feature, model);
  if (isImagen(model) || EMBEDDINGS.test(model)) return false;
  if (!/gemini/.test(model)) return undefined;
  if (feature === "speech") return /-tts|native-audio/.test(model);
  if (IMAGES.test(model) && (feature === "tools" || feature === "schema"))
    return isThird(model) ? undefined : false;
  return true;
}
