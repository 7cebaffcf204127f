/** The list of models in the API's form (ai.google.dev/api/models). */

import type { ClientRequest, FaceModels, JsonObject } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members, tokenCount } from "@sluice/kit/dialect";

const METHODS = ["generateContent", "countTokens"];

/** The lists and entries of models. */
export const MODELS: FaceModels = {
  isAsked: (client: ClientRequest) =>
    client.path.startsWith("/v1beta/") ||
    ["x-goog-api-key", "x-goog-api-client"].some((name) => client.header(name) !== undefined),
  list: (reply) => ({ models: Members.objectsOf(reply.data).map(modelOf) }),
  one: modelOf,
};

function modelOf(entry: JsonObject): JsonObject {
  const id = String(entry.id);
  const metadata = isObject(entry.metadata) ? entry.metadata : {};
  return Members.present({
    name: `models/${id}`,
    version: "1",
    displayName: id,
    // The window of a model is that of its prompts and answers together.
    inputTokenLimit: tokenCount(metadata.context_window),
    supportedGenerationMethods: METHODS,
  });
}
