/** What every step takes beside its own options: when it applies, whether it counts, what becomes of its failures. */

import type { JsonSchema } from "@sluice/spec";

const LONGEST_PATTERN = 200;

function oneOrMore(description: string, example: string): JsonSchema {
  return {
    type: ["string", "array"],
    minLength: 1,
    maxLength: LONGEST_PATTERN,
    minItems: 1,
    maxItems: 100,
    description: `${description} One, or a list of which one must match; \`*\` at the end stands for the rest. Example: ${example}.`,
    "x-example": example,
    items: { type: "string", minLength: 1, maxLength: LONGEST_PATTERN, description: "One of them." },
  };
}

const when: JsonSchema = {
  type: "object",
  additionalProperties: false,
  minProperties: 1,
  description: "The step applies to requests that match all of these, and is passed by otherwise. Default: every request.",
  properties: {
    model: oneOrMore("Ids of the model that the request stands at: after a fallback, of the one that stands in.", "gpt-4o*"),
    key: oneOrMore("Aliases or ids of keys.", "ci"),
    user: oneOrMore("Ids of the key's user.", "u-17"),
    team: oneOrMore("Ids of the key's team.", "research"),
    tag: oneOrMore("Tags of the key, of its team or of the request.", "batch"),
    header: {
      type: "object",
      minProperties: 1,
      maxProperties: 20,
      description: "Request headers by their names. Clients write them: they select, and they prove nothing.",
      propertyNames: { pattern: "^[A-Za-z0-9-]+$" },
      additionalProperties: oneOrMore("Values of the header; `*` for any.", "beta"),
    },
    stream: { type: "boolean", description: "Whether the client asked for a stream. Example: true." },
  },
};

const TIME = "a date, or a date and a time as 2026-12-24T18:00, in the zone `tz`; with Z or +01:00 at its end in that one";

const active: JsonSchema = {
  type: "object",
  additionalProperties: false,
  minProperties: 1,
  description: "When the step applies. Outside of it the step is passed by. Default: always.",
  properties: {
    from: { type: "string", minLength: 1, description: `From then on: ${TIME}. Example: 2026-12-24.` },
    until: { type: "string", minLength: 1, description: `Up to then: ${TIME}. Example: 2027-01-02T06:00.` },
    cron: {
      type: "string",
      minLength: 1,
      description:
        "In the minutes that match: minute, hour, day of the month, month, day of the week. Example: `* 22-23,0-5 * * *` for the nights.",
    },
    tz: { type: "string", minLength: 1, description: "The zone of the times, an IANA name. Default: `server.time_zone`." },
  },
};

/** The keys that every step takes beside `use` and `with`. Where one of them is absent, it costs nothing. */
export const stepUseProperties = {
  when,
  mode: {
    type: "string",
    enum: ["enforce", "shadow"],
    description:
      "`shadow`: the step runs beside the request and says what it would have done; nothing of it has an effect. Default: enforce.",
  },
  on_error: {
    type: "string",
    enum: ["fail", "skip"],
    description:
      "What becomes of a request when the step itself fails: `fail` ends it with 500, `skip` goes on without the step. A refusal is no failure. Default: fail.",
  },
  timeout: {
    type: "string",
    format: "duration",
    description:
      "How long the step may take until it hands on or answers; then it has failed. Default: no limit of its own. Example: 2s.",
  },
  active,
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** What a pattern list says: one or several. */
export type OneOrMore = string | readonly string[];

/** `when:` after validation. */
export interface WhenSection {
  readonly model?: OneOrMore;
  readonly key?: OneOrMore;
  readonly user?: OneOrMore;
  readonly team?: OneOrMore;
  readonly tag?: OneOrMore;
  readonly header?: Readonly<Record<string, OneOrMore>>;
  readonly stream?: boolean;
}

/** `active:` after validation. */
export interface ActiveSection {
  readonly from?: string;
  readonly until?: string;
  readonly cron?: string;
  readonly tz?: string;
}

/** What a step says beside `use` and `with`, after validation. */
export interface StepUseSection {
  readonly when?: WhenSection;
  readonly mode?: "enforce" | "shadow";
  readonly on_error?: "fail" | "skip";
  readonly timeout?: string;
  readonly active?: ActiveSection;
}
