/**
 * The step acme: refuses conversations with too many messages,
 * and returns their number in a header. Replace this behaviour.
 */

import { defineStep } from "@sluice/kit";
import { type Exchange, GatewayError } from "@sluice/contract";

interface AcmeConfig {
  readonly max_messages: number;
}

/** The header of the reply. */
const HEADER = "x-acme-messages";
/** How explanations of requests name a refusal. */
const TOO_MANY = "more messages than allowed";

export default defineStep<AcmeConfig>({
  name: "acme",
  stability: "experimental",
  summary: "Refuses conversations with more messages than allowed.",
  // The options under `with:` in YAML. Every key has a description: editors show it, and a test
  // requires it.
  config: {
    type: "object",
    properties: {
      max_messages: {
        type: "integer",
        minimum: 1,
        default: 100,
        description: "Maximum number of messages in a conversation. Example: `20`.",
      },
    },
  },
  operations: ["chat"],
  order: {
    // If the step is before authentication, `sluice check` reports this reason.
    requires: [{ capability: "identity", reason: "the step answers authenticated clients only" }],
  },
  create({ max_messages: maxMessages }, host) {
    const refused = host.metrics
      .counter({ name: "refused_total", help: "Refused requests." })
      .with();
    return {
      // Runs on the way in, without a promise. `false` continues with the next step and skips
      // `run`.
      enter(exchange) {
        const count = messagesOf(exchange);
        if (count <= maxMessages) return true;
        refused.add();
        exchange.note("acme", TOO_MANY, String(count));
        throw new GatewayError(
          "invalid_field",
          `messages must have at most ${maxMessages} entries.`,
          { param: "messages" },
        );
      },
      // Runs around the inner steps. Code after `next` runs on the way out, before the client
      // receives anything.
      async run({ exchange }, next) {
        await next();
        exchange.headers.set(HEADER, String(messagesOf(exchange)));
      },
    };
  },
});

function messagesOf({ request }: Exchange): number {
  const messages = request?.document.value.messages;
  return Array.isArray(messages) ? messages.length : 0;
}
