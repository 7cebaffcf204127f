/** The options of the step `limits`. */

import { parseDuration } from "@sluice/kit";
import type { ConfigFault, JsonSchema, NamedThing } from "@sluice/contract";

/** Whose requests a window or a slot counts. */
export type WindowSubject = "key" | "user" | "team" | "model" | "key_model" | "global";
/** Whose money a budget counts. */
export type BudgetSubject = "key" | "user" | "team" | "tag" | "provider" | "global";

/** Scopes whose budgets may be metrics. Their ids are the operator's. */
export type BudgetScope = "organization" | "team" | "membership" | "user" | "key" | "pool";

/** One entry of `windows`. */
export interface WindowConfig {
  readonly per: WindowSubject;
  readonly requests?: number;
  readonly tokens?: number;
  readonly window: string;
  readonly only?: readonly string[];
}

/** One entry of `parallel`. */
export interface ParallelConfig {
  readonly per: WindowSubject;
  readonly requests: number;
  readonly only?: readonly string[];
}

/** One entry of `budgets`. Money in US dollars. */
export interface BudgetConfig {
  readonly per: BudgetSubject;
  readonly max?: number;
  readonly soft?: number;
  readonly duration?: string;
  readonly only?: readonly string[];
}

/** What YAML says. */
export interface LimitsConfig {
  readonly windows: readonly WindowConfig[];
  readonly parallel: readonly ParallelConfig[];
  readonly budgets: readonly BudgetConfig[];
  readonly soft_budget?: string;
  readonly budget_metrics: readonly BudgetScope[];
  readonly unpriced: "refuse" | "allow";
  readonly default_max_tokens: number;
  readonly max_in_flight: number;
  readonly in_flight_share: string;
  readonly reserved_share: string;
  readonly max_n: number;
  readonly max_images: number;
  readonly max_cost?: number;
  readonly on_max_cost: "refuse" | "clamp" | "downgrade";
  readonly downgrade_to?: string;
  readonly limit_master: boolean;
}

const ONLY = {
  type: "array",
  minItems: 1,
  items: { type: "string", minLength: 1, description: "One name." },
} as const;
const SUBJECTS = ["key", "user", "team", "model", "key_model", "global"];
const PER =
  "Each one has a limit of its own; `key_model` is a key at one model, `global` all keys together.";
const DURATION = "^[1-9][0-9]{0,3}(s|m|h|d|w|mo)$";
const MAX_TOKENS = 1_000_000_000_000;
const MAX_USD = 8_000_000;

/** The schema of the options. */
export const limitsSchema: JsonSchema = {
  type: "object",
  properties: {
    windows: {
      type: "array",
      default: [],
      description:
        "Requests and tokens in any span of time, beside the `rpm` and `tpm` of keys and teams.",
      items: {
        type: "object",
        description: "Example: `{ per: user, requests: 1000, window: 1h }`.",
        additionalProperties: false,
        required: ["per"],
        properties: {
          per: { type: "string", enum: SUBJECTS, description: PER },
          requests: {
            type: "integer",
            minimum: 0,
            maximum: MAX_TOKENS,
            description: "Requests at most.",
          },
          tokens: {
            type: "integer",
            minimum: 0,
            maximum: MAX_TOKENS,
            description: "Tokens at most, of prompts and replies.",
          },
          window: {
            type: "string",
            format: "duration",
            default: "1m",
            description: "The span. It slides.",
          },
          only: {
            ...ONLY,
            description: "Ids or aliases that it holds for; models by their id. Absent: all.",
          },
        },
      },
    },
    parallel: {
      type: "array",
      default: [],
      description: "Concurrent requests, in addition to `max_parallel_requests` of keys and teams.",
      items: {
        type: "object",
        description: "Example: `{ per: user, requests: 10 }`.",
        additionalProperties: false,
        required: ["per", "requests"],
        properties: {
          per: { type: "string", enum: SUBJECTS, description: PER },
          requests: {
            type: "integer",
            minimum: 0,
            maximum: MAX_TOKENS,
            description: "Requests at most.",
          },
          only: {
            ...ONLY,
            description: "Ids or aliases that it holds for; models by their id. Absent: all.",
          },
        },
      },
    },
    budgets: {
      type: "array",
      default: [],
      description: "Money that may be spent, beside the `max_budget` of keys and teams.",
      items: {
        type: "object",
        description: "Example: `{ per: provider, max: 100, duration: 1d, only: [openai] }`.",
        additionalProperties: false,
        required: ["per"],
        properties: {
          per: {
            type: "string",
            enum: ["key", "user", "team", "tag", "provider", "global"],
            description:
              "Each one has a budget of its own; `provider` by its name in gateway.yaml, `global` is shared by all keys.",
          },
          max: {
            type: "number",
            minimum: 0,
            maximum: MAX_USD,
            description: "US dollars. Absent: no maximum; see `soft`.",
          },
          soft: {
            type: "number",
            minimum: 0,
            maximum: MAX_USD,
            description: "Once this many US dollars are spent, the log and a response header warn.",
          },
          duration: {
            type: "string",
            pattern: DURATION,
            description:
              "The budget begins anew with each: `1d` at midnight, `7d` on Monday, `1mo` on the 1st, by `server.time_zone`. Absent: never.",
          },
          only: {
            ...ONLY,
            description: "Ids, aliases, tags or providers that it holds for. Absent: all.",
          },
        },
      },
    },
    budget_metrics: {
      type: "array",
      default: [],
      uniqueItems: true,
      description:
        "Scopes whose budgets are metrics: `sluice_limits_budget_remaining_usd` and `sluice_limits_budget_max_usd`. A metric has at most 1,000 budgets; further ones are counted under `other`.",
      items: {
        type: "string",
        enum: ["organization", "team", "membership", "user", "key", "pool"],
        description: "A scope; `pool` is a budget that records share.",
      },
      examples: [["team", "key"]],
    },
    soft_budget: {
      type: "string",
      pattern: "^(100|[1-9]?[0-9])%$",
      description:
        "The share of every budget from which on the log and a header warn. Absent: no warning.",
    },
    unpriced: {
      type: "string",
      enum: ["refuse", "allow"],
      default: "refuse",
      description: "What becomes of a call without a known price where a budget holds.",
    },
    default_max_tokens: {
      type: "integer",
      minimum: 1,
      maximum: 10_000_000,
      default: 4096,
      description:
        "Tokens reserved for a reply where neither the request nor the model's `info` says how long it may be.",
    },
    max_in_flight: {
      type: "integer",
      minimum: 1,
      maximum: 1_000_000,
      default: 2000,
      description: "Requests under way in this process. One more gets a 503.",
    },
    in_flight_share: {
      type: "string",
      pattern: "^(100|[1-9][0-9]?)%$",
      default: "50%",
      description:
        "The share of `max_in_flight` that one key, or all keys of one team, may have alone. With 50% each of k busy ones has max_in_flight / (k + 1), at least 16 while anything is free.",
    },
    reserved_share: {
      type: "string",
      pattern: "^(100|[1-9][0-9]?)%$",
      default: "25%",
      description:
        "The share of a budget or token window of several keys that requests under way of one key may reserve, in this process. A key that no other has joined for a minute may reserve all; 100%: every key may. Of concurrent requests that several keys share, one key may have half, counted with all processes that share state; without other keys all but an eighth, and all of up to 3.",
    },
    max_n: {
      type: "integer",
      minimum: 1,
      maximum: 128,
      default: 8,
      description: "Replies (`n`) that one chat request may ask for.",
    },
    max_images: {
      type: "integer",
      minimum: 1,
      maximum: 1_000,
      default: 10,
      description: "Images (`n`) that one request may ask for.",
    },
    max_cost: {
      type: "number",
      minimum: 0,
      maximum: MAX_USD,
      description:
        "US dollars that one request may cost. The header `x-sluice-max-cost` may ask for less. Absent: any amount.",
    },
    on_max_cost: {
      type: "string",
      enum: ["refuse", "clamp", "downgrade"],
      default: "refuse",
      description:
        "A request that could cost more is refused, gets a smaller `max_tokens`, or another model (`downgrade_to`).",
    },
    downgrade_to: {
      type: "string",
      minLength: 1,
      description: "The id of a cheaper model of the same mode.",
    },
    limit_master: {
      type: "boolean",
      default: false,
      description: "Whether the limits of this step hold for the master key too.",
    },
  },
};

/**
 * Providers and models that the options name. Names of keys, users, teams and tags are in no file.
 */
export function limitsNames({
  windows,
  parallel,
  budgets,
  downgrade_to: cheaper,
}: LimitsConfig): readonly NamedThing[] {
  const models = [...windows, ...parallel]
    .filter(({ per }) => per === "model")
    .flatMap(({ only = [] }) => only);
  const providers = budgets
    .filter(({ per }) => per === "provider")
    .flatMap(({ only = [] }) => only);
  return [
    ...models.map((name) => ({ kind: "model", name }) as const),
    ...providers.map((name) => ({ kind: "provider", name }) as const),
    ...(cheaper === undefined ? [] : [{ kind: "asked_model", name: cheaper } as const]),
  ];
}

/** Faults that the schema cannot express. */
export function limitsFaults(config: LimitsConfig): readonly ConfigFault[] {
  const faults: ConfigFault[] = [];
  for (const [index, { requests, tokens, window }] of config.windows.entries()) {
    if (requests === undefined && tokens === undefined) {
      faults.push({
        path: ["windows", index],
        message: "a window limits nothing",
        fix: "write `requests`, `tokens` or both",
      });
    }
    if ((parseDuration(window) ?? 0) < 1_000) {
      faults.push({
        path: ["windows", index, "window"],
        message: "a window is shorter than a second",
        fix: "write `1s` or more",
      });
    }
  }
  for (const [index, { max, soft }] of config.budgets.entries()) {
    if (max === undefined && soft === undefined) {
      faults.push({
        path: ["budgets", index],
        message: "a budget limits nothing",
        fix: "write `max`, `soft` or both",
      });
    } else if (max !== undefined && soft !== undefined && soft > max) {
      faults.push({
        path: ["budgets", index, "soft"],
        message: "`soft` is more than `max`: the warning would never appear",
        fix: "write less than `max`",
      });
    }
  }
  if ((config.on_max_cost === "downgrade") !== (config.downgrade_to !== undefined)) {
    const path = [config.downgrade_to === undefined ? "on_max_cost" : "downgrade_to"];
    faults.push({
      path,
      message: "`on_max_cost: downgrade` and `downgrade_to` belong together",
      fix: "write both, or none",
    });
  }
  return faults;
}
