/** The section `policies:` of gateway.yaml. */

import type { JsonSchema } from "@sluice/contract";
import type { FromSchema } from "./from-schema.ts";

export type LintSeverity = "error" | "warn" | "off";

/** The protections that `require` can name. */
export const PROTECTIONS = ["limits", "cost", "guardrails_in", "guardrails_out"] as const;

export type Protection = (typeof PROTECTIONS)[number];

/** The lints, each with what it reports. */
const LINTS = {
  step_order: "steps in an order that is allowed but rarely intended",
  uncovered_route: "routes without a protection that other routes have or a key relies on",
  fallback_capability: "fallbacks that lack capabilities of the model",
  unreachable_fallback: "fallbacks that a pipeline never uses",
  unreachable_target: "targets that are never called, and weights and priorities without effect",
  untagged_requests:
    "models with tagged targets, and no target for requests without a matching tag",
  unpriced_model: "targets without a known price",
  unkept_reply: "steps that accept replies too large for the shared state",
  narrow_connections: "providers that hold fewer requests than `max_in_flight` admits",
  weak_key: "declared keys of fewer than 22 characters",
  unreachable_limit: "limits above those of what a key, a team or a member belongs to",
} as const;

export type LintName = keyof typeof LINTS;

const severity = (about: string) =>
  ({
    type: "string",
    enum: ["error", "warn", "off"],
    default: "warn",
    description: `Reports ${about}. \`error\` refuses the configuration, \`warn\` prints a line of \`sluice check\`, \`off\` disables it.`,
  }) as const;

type SeverityOf = Readonly<Record<LintName, ReturnType<typeof severity>>>;

/** The schema of `policies:`. */
export const policiesSchema = {
  type: "object",
  default: {},
  additionalProperties: false,
  description: "Your own rules for the configuration, beside the built-in ones.",
  properties: {
    require: {
      type: "array",
      default: [],
      uniqueItems: true,
      items: { type: "string", enum: PROTECTIONS, description: "One protection." },
      description:
        "Protections that every route to an upstream must have. A route without one refuses the configuration. Example: `[limits, cost]`.",
    },
    lints: {
      type: "object",
      default: {},
      additionalProperties: false,
      description:
        "The severity of each lint of `sluice check`. Example: `{ unpriced_model: error }`.",
      properties: Object.fromEntries(
        Object.entries(LINTS).map(([name, about]) => [name, severity(about)]),
      ) as SeverityOf,
    },
  },
} as const satisfies JsonSchema;

/** `policies:` after validation. */
export type PoliciesSection = FromSchema<typeof policiesSchema>;
