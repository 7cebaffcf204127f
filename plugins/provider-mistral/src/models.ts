/**
 * Facts about Mistral's models by their names (docs.mistral.ai/getting-started/models). Data and
 * two functions.
 */

import type { Feature } from "@sluice/contract";

/** Families that think, and take their thoughts back as blocks. */
const THINKING = /^magistral|^mistral-(?:small-(?:2603|4)|medium-3-5|medium-3\.5)/;
/** Families that see. */
const SEEING =
  /^pixtral|^magistral-(?:small|medium)-(?:2509|latest)|^mistral-(?:small-(?:25|26|latest)|medium|large-(?:2512|latest))|^ministral-\d+b-2512/;
const HEARING = /^voxtral/;
/** Chat models that cannot call tools, and what is no chat model. */
const TOOLLESS = /^(?:open-mistral-7b|mistral-7b|mixtral-8x7b|mistral-tiny|codestral-mamba)/;

/** Whether a model takes `thinking` blocks in the messages of the assistant. */
export function takesThoughts(model: string): boolean {
  return THINKING.test(model);
}

/** Whether a model has a feature; `undefined` when its name does not show it. */
export function supports(feature: Feature, model: string): boolean | undefined {
  switch (feature) {
    case "tools":
      return TOOLLESS.test(model) ? false : undefined;
    case "images":
      return SEEING.test(model)
        ? true
        : /^(?:codestral|devstral|open-mi|mixtral|mistral-(?:7b|tiny|nemo))/.test(model)
          ? false
          : undefined;
    case "audio":
      return HEARING.test(model) ? true : undefined;
    case "speech":
      return false;
    case "documents":
      return undefined;
    case "schema":
      return !model.startsWith("codestral-mamba");
    default:
      return feature satisfies never;
  }
}
