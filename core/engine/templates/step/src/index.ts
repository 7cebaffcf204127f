/** The step acme: refuses conversations that are too long, and says in a header how long one was. Replace what it does. */

import { defineStep } from "@sluice/kit";
import { type Exchange, GatewayError } from "@sluice/spec";

interface AcmeConfig {
  readonly max_messages: number;
}

export default defineStep<AcmeConfig>({
  name: "acme",
  stability: "experimental",
  summary: "Refuses conversations with more messages than allowed.",
  // What YAML may say under `with:`. Every key has a description: editors show it, and a test asks for it.
  config: {
    type: "object",
    properties: {
      max_messages: {
        type: "integer",
        minimum: 1,
        default: 100,
        description: "Messages that a conversation may have. Example: `20`.",
      },
    },
  },
  operations: ["chat"],
  // A wrong place in a pipeline is a finding with this reason.
  requires: [{ capability: "identity", reason: "nothing is told to somebody who has no key" }],
  create({ max_messages: most }, host) {
    const refused = host.metrics.counter({ name: "refused_total", help: "Requests that were refused." }).with();
    return {
      // On the way in, without a promise. `false` would go on with the next step and leave `run` out.
      enter(exchange) {
        const count = messagesOf(exchange);
        if (count <= most) return true;
        refused.add();
        exchange.note("acme", "more messages than allowed", String(count));
        throw new GatewayError("invalid_field", `messages must have at most ${most} entries.`, { param: "messages" });
      },
      // Around the inner steps. What stands behind `next` happens on the way out; nothing has been written to the client yet.
      async run({ exchange }, next) {
        await next();
        exchange.headers.set("x-acme-messages", String(messagesOf(exchange)));
      },
    };
  },
});

function messagesOf({ request }: Exchange): number {
  const messages = request?.document.value.messages;
  return Array.isArray(messages) ? messages.length : 0;
}
