/** The options of the step `guardrails`. */

import type { JsonSchema, TextPart } from "@sluice/contract";

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

/** The step's options with defaults applied. */
export type ReplyConfig = GuardrailsConfig & {
  readonly max_held: number;
  /** No part of a stream is passed on before all of it is checked. */
  readonly keepsWhole: boolean;
};

/** The default maximum of held characters of one text. */
export const DEFAULT_MAX_HELD = 262_144;

const NAMES = { type: "array", default: [], items: { type: "string", minLength: 1 } };

export const guardrailsSchema: JsonSchema = {
  type: "object",
  properties: {
    input: {
      ...NAMES,
      description:
        "Guardrails that check requests, by their names in gateway.yaml. Example: `[pii]`.",
    },
    output: { ...NAMES, description: "Guardrails that check replies. Example: `[pii, words]`." },
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
      description:
        "parallel: all check the original text; sequence: each checks the text that the previous one edited.",
    },
    scope: {
      type: "array",
      minItems: 1,
      items: { type: "string", minLength: 1 },
      description:
        "The texts that this step checks. Absent: all. Example: `[user, tool, content]`.",
    },
    max_held: {
      type: "integer",
      minimum: 1_024,
      maximum: 16_777_216,
      default: DEFAULT_MAX_HELD,
      description:
        "Maximum characters of one text that a stream holds; a longer reply ends with an error.",
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
        "Texts of a request that are also checked joined. blocks: consecutive ones of a message; messages: also all texts of one role, which costs more time.",
    },
    unreadable: {
      type: "string",
      enum: ["refuse", "allow"],
      default: "refuse",
      description:
        "The rule for unreadable content: tokens to embed, encoded files. Pictures and sounds pass.",
    },
  },
};
