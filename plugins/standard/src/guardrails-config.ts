/** What YAML says of the step `guardrails`. */

import type { JsonSchema, TextPart } from "@sluice/spec";

/** Options of the step after validation. */
export interface GuardrailsConfig {
  readonly input?: readonly string[];
  readonly output?: readonly string[];
  readonly stream?: "window" | "hold" | "observe";
  readonly order?: "parallel" | "sequence";
  readonly scope?: readonly TextPart[];
  readonly max_held?: number;
  readonly unreadable?: "refuse" | "allow";
  readonly ask_again?: boolean;
  readonly join?: "blocks" | "messages";
}

/** The step's options with what has a default and no guess. */
export type ReplyConfig = GuardrailsConfig & {
  readonly max_held: number;
  /** Nothing of a stream is handed on before all of it is judged. */
  readonly keepsWhole: boolean;
};

/** Characters of one text that a stream may hold back. */
export const DEFAULT_MAX_HELD = 262_144;

const NAMES = { type: "array", default: [], items: { type: "string", minLength: 1 } };

export const guardrailsSchema: JsonSchema = {
  type: "object",
  properties: {
    input: { ...NAMES, description: "Guardrails that judge requests, by their names in gateway.yaml. Example: `[pii]`." },
    output: { ...NAMES, description: "Guardrails that judge replies. Example: `[pii, words]`." },
    stream: {
      type: "string",
      enum: ["window", "hold", "observe"],
      default: "window",
      description:
        "window: what can no longer change is released; hold: nothing, until the whole reply is judged; observe: reported only.",
    },
    order: {
      type: "string",
      enum: ["parallel", "sequence"],
      default: "parallel",
      description: "parallel: all judge the text as it came; sequence: each judges what the one before left.",
    },
    scope: {
      type: "array",
      minItems: 1,
      items: { type: "string", minLength: 1 },
      description: "The texts that are judged here. Absent: all. Example: `[user, tool, content]`.",
    },
    max_held: {
      type: "integer",
      minimum: 1_024,
      maximum: 16_777_216,
      default: DEFAULT_MAX_HELD,
      description: "Characters of one text that a stream may hold back; a longer reply ends with an error.",
    },
    ask_again: {
      type: "boolean",
      default: false,
      description:
        "Asks the model once more when a guardrail refuses a reply and says that another may do. Both calls cost. Whole replies, and streams with `stream: hold`.",
    },
    join: {
      type: "string",
      enum: ["blocks", "messages"],
      default: "blocks",
      description:
        "Texts of a request that are also judged as one. blocks: those that follow each other in a message; messages: all that one role says, too, which is more work.",
    },
    unreadable: {
      type: "string",
      enum: ["refuse", "allow"],
      default: "refuse",
      description: "What happens to content that is no text: tokens to embed, encoded files. Pictures and sounds pass.",
    },
  },
};
