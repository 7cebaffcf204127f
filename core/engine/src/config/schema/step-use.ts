/**
 * The keys that every step takes beside its options: when it applies, whether it is enforced, and
 * how its failures are handled.
 */

import type { JsonSchema } from "@sluice/contract";
import type { FromSchema } from "./from-schema.ts";

const MAX_PATTERN = 200;

function oneOrMore(description: string, example: string) {
  return {
    type: ["string", "array"],
    minLength: 1,
    maxLength: MAX_PATTERN,
    minItems: 1,
    maxItems: 100,
    description: `${description} A pattern, or a list of which one must match. \`*\` at the end matches the rest. Example: ${example}.`,
    "x-example": example,
    items: { type: "string", minLength: 1, maxLength: MAX_PATTERN, description: "One pattern." },
  } as const satisfies JsonSchema;
}

const when = {
  type: "object",
  additionalProperties: false,
  minProperties: 1,
  description:
    "The step applies to requests that match all conditions. Other requests skip it. Default: every request.",
  properties: {
    model: oneOrMore(
      "Ids of the current model; after a fallback, of the fallback model.",
      "gpt-4o*",
    ),
    key: oneOrMore("Aliases or ids of keys.", "ci"),
    user: oneOrMore("Ids of the key's user.", "u-17"),
    team: oneOrMore("Ids of the key's team.", "research"),
    tag: oneOrMore("Tags of the key, of its team or of the request.", "batch"),
    header: {
      type: "object",
      minProperties: 1,
      maxProperties: 20,
      description:
        "Request headers by name. Clients choose their values: use them to select, never to authorize.",
      propertyNames: { pattern: "^[A-Za-z0-9-]+$" },
      additionalProperties: oneOrMore("Values of the header; `*` for any.", "beta"),
    },
    stream: {
      type: "boolean",
      description: "Whether the client asked for a stream. Example: true.",
    },
  },
} as const satisfies JsonSchema;

const TIME =
  "a date, or a date and time such as 2026-12-24T18:00, in the zone `tz`, or with its own offset such as Z or +01:00";

const active = {
  type: "object",
  additionalProperties: false,
  minProperties: 1,
  description: "When the step applies. At other times requests skip it. Default: always.",
  properties: {
    from: {
      type: "string",
      minLength: 1,
      description: `Start of the period: ${TIME}. Example: 2026-12-24.`,
    },
    until: {
      type: "string",
      minLength: 1,
      description: `End of the period: ${TIME}. Example: 2027-01-02T06:00.`,
    },
    cron: {
      type: "string",
      minLength: 1,
      description:
        "The step applies in matching minutes. Fields: minute, hour, day of the month, month, day of the week. Example: `* 22-23,0-5 * * *` for every night.",
    },
    tz: {
      type: "string",
      minLength: 1,
      description: "Time zone, an IANA name. Default: `server.time_zone`.",
    },
  },
} as const satisfies JsonSchema;

/** The keys that every step takes beside `use` and `with`. An absent key costs nothing. */
export const stepUseProperties = {
  when,
  mode: {
    type: "string",
    enum: ["enforce", "shadow"],
    description:
      "`shadow`: the step runs beside the request and reports what it would have done, without effect on the request. Default: enforce.",
  },
  on_error: {
    type: "string",
    enum: ["fail", "skip"],
    description:
      "What happens when the step itself fails. `fail`: the request ends with 500. `skip`: it continues without the step. A refusal is not a failure. Default: fail.",
  },
  timeout: {
    type: "string",
    format: "duration",
    description:
      "Maximum time until the step calls the next one or answers. After it, the step has failed. Default: no limit of its own. Example: 2s.",
  },
  active,
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** One pattern, or several. */
export type OneOrMore = string | readonly string[];

/** `when:` after validation. */
export type WhenSection = FromSchema<typeof when>;

/** `active:` after validation. */
export type ActiveSection = FromSchema<typeof active>;

/** The common keys of a step after validation. */
export type StepUseSection = FromSchema<{
  readonly type: "object";
  readonly additionalProperties: false;
  readonly properties: typeof stepUseProperties;
}>;
