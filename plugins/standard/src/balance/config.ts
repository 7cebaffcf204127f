/** The options of the step `balance`. */

import { parseDuration } from "@sluice/kit";
import type { BalanceStrategy, JsonSchema } from "@sluice/contract";
import type { BreakerSettings } from "../deployments/breaker.ts";

/** The property that keeps a client's requests at one target. */
export type StickyBy = "key" | "user" | "header" | "prompt_prefix";

/** The options as YAML has them. */
export interface BalanceConfig {
  readonly strategy: BalanceStrategy;
  readonly sticky_by: StickyBy;
  readonly sticky_header?: string;
  readonly targets: number;
  readonly breaker: BreakerConfig;
}

/** The circuit breaker's options as YAML has them. */
export interface BreakerConfig {
  readonly consecutive: number;
  readonly ratio: string;
  readonly min_requests: number;
  readonly ejection: string;
  readonly max_ejection: string;
  readonly ejection_with_fallback: string;
  readonly max_ejected: string;
  readonly eject_single: boolean;
}

/** The share of a model's targets that may be ejected. */
export interface EjectionLimits {
  /** From 0 to 1. */
  readonly maxEjected: number;
  readonly ejectSingle: boolean;
}

const PERCENT = "^(100|[1-9]?[0-9])%$";
const ejectionShare = (value: string, description: string) => ({
  type: "string",
  pattern: PERCENT,
  default: value,
  description,
});

const DEFAULTS = {
  consecutive: 5,
  ratio: "50%",
  min_requests: 20,
  ejection: "5s",
  max_ejection: "30s",
  ejection_with_fallback: "3s",
  max_ejected: "50%",
  eject_single: true,
} satisfies BreakerConfig;

/** The schema of the options. */
export const balanceSchema: JsonSchema = {
  type: "object",
  properties: {
    strategy: {
      type: "string",
      enum: ["weighted", "priority", "least_busy", "lowest_latency", "lowest_cost", "sticky"],
      default: "weighted",
      description: "The method that chooses a target. The model's own `balance` wins.",
    },
    sticky_by: {
      type: "string",
      enum: ["key", "user", "header", "prompt_prefix"],
      default: "key",
      description:
        "For `sticky`: requests with the same value go to one target; of `user` and `header`, those of one key. `prompt_prefix` is the prompt up to the first user message, at most 1,024 characters.",
    },
    sticky_header: {
      type: "string",
      minLength: 1,
      description: "For `sticky_by: header`: the name of the request header.",
    },
    targets: {
      type: "integer",
      minimum: 1,
      maximum: 3,
      default: 2,
      description: "Maximum number of different targets for one request.",
    },
    breaker: {
      type: "object",
      default: DEFAULTS,
      additionalProperties: false,
      description: "The circuit breaker: when a deployment is ejected, and for how long.",
      properties: {
        consecutive: {
          type: "integer",
          minimum: 1,
          default: DEFAULTS.consecutive,
          description:
            "Failures in a row that eject what was called: of two keys or more, or of one that is alone and whose bodies differ.",
        },
        ratio: ejectionShare(
          DEFAULTS.ratio,
          "The share of failures within ten seconds that ejects it, if it also holds without the key that has most of them.",
        ),
        min_requests: {
          type: "integer",
          minimum: 1,
          default: DEFAULTS.min_requests,
          description: "Minimum attempts within ten seconds before the share counts.",
        },
        ejection: {
          type: "string",
          format: "duration",
          default: DEFAULTS.ejection,
          description:
            "Duration of the first ejection. Then one request tries the deployment, and each failure doubles the duration.",
        },
        max_ejection: {
          type: "string",
          format: "duration",
          default: DEFAULTS.max_ejection,
          description:
            "Maximum duration of an ejection. A refused credential is ejected for five minutes.",
        },
        ejection_with_fallback: {
          type: "string",
          format: "duration",
          default: DEFAULTS.ejection_with_fallback,
          description:
            "Maximum duration of an ejection while a fallback can answer the request; a longer Retry-After is obeyed. The first content of a stream's trial must then arrive within 5 seconds, or within three times the target's usual time.",
        },
        max_ejected: ejectionShare(
          DEFAULTS.max_ejected,
          "The share of a model's targets that may be ejected, if it has several.",
        ),
        eject_single: {
          type: "boolean",
          default: DEFAULTS.eject_single,
          description:
            "Ejects the target of a model that has only one; requests then get 503 with `retry-after`, every tenth of them aside where the share of failures ejected it.",
        },
      },
    },
  },
};

/** The breaker's settings in milliseconds and fractions. */
export function breakerSettings(config: BreakerConfig): BreakerSettings & EjectionLimits {
  return {
    consecutive: config.consecutive,
    ratio: fraction(config.ratio),
    minRequests: config.min_requests,
    ejectionMs: milliseconds(config.ejection),
    maxEjectionMs: milliseconds(config.max_ejection),
    replacedEjectionMs: milliseconds(config.ejection_with_fallback),
    maxEjected: fraction(config.max_ejected),
    ejectSingle: config.eject_single,
  };
}

function fraction(percentage: string): number {
  return Number.parseInt(percentage, 10) / 100;
}

/** A duration that the schema has checked. */
function milliseconds(duration: string): number {
  return parseDuration(duration) ?? 0;
}
