/** The section `policies:` of gateway.yaml. */

import type { JsonObject, JsonSchema } from "@sluice/spec";

export type LintSeverity = "error" | "warn" | "off";

/** What every route that calls upstreams may be required to have. */
export const PROTECTIONS = ["limits", "cost", "guardrails_in", "guardrails_out"] as const;

export type Protection = (typeof PROTECTIONS)[number];

/** The lints, with what each is about. */
const LINTS = {
  step_order: "steps in an order that is allowed and hardly meant",
  uncovered_route: "routes without a protection that others have, or that a key relies on",
  fallback_capability: "models that stand in and cannot do what the model can that they stand in for",
  unreachable_fallback: "fallbacks that no pipeline ever asks",
  unreachable_target: "targets that are never called, and weights and priorities that nobody looks at",
  unpriced_model: "targets whose price is not known",
  unkept_reply: "replies that a step would keep and that are too large for the shared state",
  narrow_connections: "providers that hold fewer requests than `max_in_flight` admits",
  weak_key: "declared keys of fewer than 22 characters",
} as const;

export type LintName = keyof typeof LINTS;

const severity = (about: string): JsonObject => ({
  type: "string",
  enum: ["error", "warn", "off"],
  default: "warn",
  description: `What ${about} are: \`error\` refuses the configuration, \`warn\` is a line of \`sluice check\`.`,
});

/** The schema of `policies:`. */
export const policiesSchema: JsonSchema = {
  type: "object",
  default: {},
  additionalProperties: false,
  description: "What a configuration of yours must be, beyond what any must be.",
  properties: {
    require: {
      type: "array",
      default: [],
      uniqueItems: true,
      items: { type: "string", enum: [...PROTECTIONS], description: "One protection." },
      description:
        "What every route that calls upstreams must have; one that has not refuses the configuration. Example: `[limits, cost]`.",
    },
    lints: {
      type: "object",
      default: {},
      additionalProperties: false,
      description: "How severe each lint of `sluice check` is. Example: `{ unpriced_model: error }`.",
      properties: Object.fromEntries(Object.entries(LINTS).map(([name, about]) => [name, severity(about)])),
    },
  },
};

/** `policies:` after validation. */
export interface PoliciesSection {
  readonly require: readonly Protection[];
  readonly lints: Readonly<Record<LintName, LintSeverity>>;
}
