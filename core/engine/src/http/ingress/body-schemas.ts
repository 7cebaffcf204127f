/** The schemas of request bodies, by operation: the tables that the checks are made of. */

import type { JsonSchema, Operation } from "@sluice/contract";
import { bodySchema } from "./body-fields.ts";
import { CHAT_BODY } from "./chat/chat.ts";
import { EMBEDDINGS_BODY } from "./embeddings.ts";
import { IMAGES_BODY } from "./images.ts";

const SCHEMAS: Partial<Record<Operation, JsonSchema>> = {
  chat: bodySchema(
    CHAT_BODY,
    "A chat request. Fields that are not named are forwarded to a provider of the same dialect.",
  ),
  embeddings: bodySchema(EMBEDDINGS_BODY, "An embeddings request."),
  images: bodySchema(IMAGES_BODY, "An image request."),
};

/** The schema of an operation's body; `undefined` where the operation has none of its own. */
export function bodyOf(operation: Operation): JsonSchema | undefined {
  return SCHEMAS[operation];
}
