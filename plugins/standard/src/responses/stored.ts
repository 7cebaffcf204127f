/** The step `stored-responses`: reads and deletes stored responses. It calls no upstream. */

import { defineStep, jsonReply } from "@sluice/kit";
import { KEEPING, replyHold } from "@sluice/runtime";
import { GatewayError, type ClientRequest } from "@sluice/contract";
import { ResponseStore } from "./store.ts";

const MAX_CHARACTERS = 64;

export const storedResponses = defineStep<Record<string, never>>({
  name: "stored-responses",
  stability: "experimental",
  summary:
    "Answers requests for stored responses: read, delete, list their input items. Ends the pipeline.",
  config: { type: "object", properties: {} },
  operations: ["responses"],
  traits: { terminal: true, sharesState: true },
  order: {
    requires: [{ capability: "identity", reason: "a stored response belongs to a key" }],
  },
  create(_config, host) {
    const store = new ResponseStore(host);
    return {
      async run({ exchange }) {
        const { client, identity } = exchange;
        const keeping = KEEPING.get(exchange);
        const id = keeping?.idOf(client);
        if (keeping === undefined || id === undefined || identity === undefined)
          throw notFound(client);
        const entry = await store.find(identity.keyId, id, replyHold(exchange));
        if (entry === undefined) throw notFound(client);
        const { document, deletes = false } = keeping.answer(client, entry);
        if (deletes) await store.delete(identity.keyId, id);
        exchange.reply = jsonReply(document);
      },
    };
  },
});

/** One answer for what never was, what is over, and what belongs to another key. */
function notFound({ parameters: { response_id: id = "" } }: ClientRequest): GatewayError {
  return new GatewayError(
    "not_found",
    `Response with id '${id.slice(0, MAX_CHARACTERS)}' not found.`,
    { param: "response_id" },
  );
}
