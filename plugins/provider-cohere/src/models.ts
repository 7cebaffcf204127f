/**
 * Facts about Cohere's models by their names (docs.cohere.com/docs/models). Data and a function.
 */

import type { Feature } from "@sluice/contract";

/** Whether a model has a feature; `undefined` when its name does not show it. */
export function supports(feature: Feature, model: string): boolean | undefined {
  switch (feature) {
    case "images":
      return /vision|^command-a-plus/.test(model)
        ? true
        : /^(?:command|c4ai-command|c4ai-aya-expanse)/.test(model)
          ? false
          : undefined;
    case "tools":
      return /vision|aya/.test(model) ? false : /^command-(?:a|r)/.test(model) ? true : undefined;
    case "schema":
      return /^command-(?:a|r)/.test(model) ? true : undefined;
    case "audio":
    case "speech":
      return false;
    // Texts only. The kind of a document is not checked here.
    case "documents":
      return undefined;
    default:
      return feature satisfies never;
  }
}
