/** The fields that keys, teams, users, customers and organizations have in common. */

import type { FieldSpec } from "./field-spec.ts";
import { budgetOptions, modelOptions } from "./options.ts";

/** Periods of budgets. */
const PERIODS = [
  ["", "Never: the budget is for good"],
  ["1d", "Every day"],
  ["7d", "Every week"],
  ["1mo", "Every month"],
  ["30d", "Every 30 days"],
] as const;

/** How long a new record lives. */
const LIVES = [
  ["", "Never"],
  ["1d", "After a day"],
  ["7d", "After a week"],
  ["30d", "After 30 days"],
  ["90d", "After 90 days"],
  ["365d", "After a year"],
] as const;

/** Money. */
export const BUDGET_SPECS: readonly FieldSpec[] = [
  {
    name: "max_budget",
    label: "Budget",
    hint: "US dollars. Empty: no limit. 0 refuses every request.",
    group: "Budget",
    kind: "money",
    option: "--max-budget",
  },
  {
    name: "budget_duration",
    label: "Starts anew",
    group: "Budget",
    kind: "choice",
    choices: PERIODS,
    normal: "",
    option: "--budget-duration",
  },
  {
    name: "soft_budget",
    label: "Warns from",
    hint: "US dollars. Refuses nothing.",
    group: "Budget",
    kind: "money",
    option: "--soft-budget",
  },
];

/** Traffic. */
export const TRAFFIC_SPECS: readonly FieldSpec[] = [
  {
    name: "rpm_limit",
    label: "Requests a minute",
    group: "Limits",
    kind: "count",
    option: "--rpm",
  },
  { name: "tpm_limit", label: "Tokens a minute", group: "Limits", kind: "count", option: "--tpm" },
  {
    name: "max_parallel_requests",
    label: "Requests at once",
    group: "Limits",
    kind: "count",
    option: "--max-parallel-requests",
  },
];

/** Models. */
export const MODEL_SPECS: readonly FieldSpec[] = [
  {
    name: "models",
    label: "Models",
    hint: "Ids, wildcards such as openai/*, access groups. None: every model.",
    group: "Models",
    kind: "names",
    optionsFor: modelOptions,
    takesOthers: true,
    option: "--models",
  },
];

/** Names of its own for models: of keys and teams. */
export const MODEL_ALIASES_SPEC: FieldSpec = {
  name: "model_aliases",
  label: "Names for models",
  hint: 'JSON: {"fast": "gpt-4o-mini"}',
  group: "More",
  kind: "json",
  option: "--model-aliases",
};

/** When a record ends. */
export const LIFE_SPECS: readonly FieldSpec[] = [
  {
    name: "duration",
    label: "Expires",
    group: "End",
    kind: "choice",
    choices: LIVES,
    normal: "",
    isFixed: true,
    option: "--duration",
  },
  {
    name: "expires",
    label: "Expires",
    hint: "In your time zone. Empty: never.",
    group: "End",
    kind: "time",
    isLater: true,
    option: "--expires",
  },
];

/** What few records need. */
export const MORE_SPECS: readonly FieldSpec[] = [
  {
    name: "budget_id",
    label: "Named budget",
    hint: "A budget whose limits hold besides these.",
    group: "More",
    kind: "ref",
    optionsFor: budgetOptions,
    takesOthers: true,
    option: "--budget",
  },
  {
    name: "budget_share",
    label: "Its counter",
    group: "More",
    kind: "choice",
    choices: [
      ["each", "Of its own"],
      ["pool", "Shared with all who refer to it"],
    ],
    normal: "each",
    option: "--budget-share",
  },
  {
    name: "tags",
    label: "Tags",
    hint: "Written into every spend row.",
    group: "More",
    kind: "names",
    takesOthers: true,
    option: "--tags",
  },
  {
    name: "allowed_tags",
    label: "Tags that requests may name",
    hint: "Those of other records, or with a budget of their own.",
    group: "More",
    kind: "names",
    takesOthers: true,
    option: "--allowed-tags",
  },
  {
    name: "guardrails",
    label: "Guardrails",
    hint: "Names, for steps that run guardrails.",
    group: "More",
    kind: "names",
    takesOthers: true,
    option: "--guardrails",
  },
  {
    name: "per_model",
    label: "Limits by model",
    hint: 'JSON: {"gpt-4o": {"rpm": 5, "max_budget": 10}}',
    group: "More",
    kind: "json",
    option: "--per-model",
  },
  {
    name: "metadata",
    label: "Notes",
    hint: 'JSON: {"cost_center": "42"}',
    group: "More",
    kind: "json",
    option: "--metadata",
  },
  {
    name: "passthrough",
    label: "Every native path of the providers",
    hint: "Not the inference endpoints alone.",
    group: "More",
    kind: "flag",
    option: "--passthrough",
  },
];
