/** The fields of a team's form. */

import type { FieldSpec } from "../../records/field-spec.ts";
import { organizationOptions } from "../../records/options.ts";
import {
  BUDGET_SPECS,
  LIFE_SPECS,
  MODEL_ALIASES_SPEC,
  MODEL_SPECS,
  MORE_SPECS,
  TRAFFIC_SPECS,
} from "../../records/specs.ts";

/** The fields, in the order of the form. */
export const TEAM_SPECS: readonly FieldSpec[] = [
  {
    name: "team_alias",
    label: "Name",
    hint: "What people call it.",
    group: "Name",
    kind: "text",
    option: "--alias",
  },
  {
    name: "team_id",
    label: "Id",
    hint: "It stays. Empty: the gateway makes one.",
    group: "Name",
    kind: "text",
    isFixed: true,
    isPositional: true,
  },
  {
    name: "organization_id",
    label: "Organization",
    group: "Owner",
    kind: "ref",
    optionsFor: organizationOptions,
    takesOthers: false,
    option: "--organization",
  },
  ...MODEL_SPECS,
  ...BUDGET_SPECS,
  ...TRAFFIC_SPECS,
  ...LIFE_SPECS,
  {
    name: "user_budgets",
    label: "Budgets of its users",
    group: "More",
    kind: "choice",
    choices: [
      ["count", "Hold in the team too"],
      ["ignore", "Do not hold in the team"],
    ],
    normal: "count",
    option: "--user-budgets",
  },
  MODEL_ALIASES_SPEC,
  {
    name: "member_defaults",
    label: "Limits of members without their own",
    hint: 'JSON: {"rpm": 60}',
    group: "More",
    kind: "json",
    option: "--member-defaults",
  },
  {
    name: "self_service",
    label: "What members may make for themselves",
    hint: 'JSON: {"max_keys": 5, "upper_bounds": {"max_budget": 20}}',
    group: "More",
    kind: "json",
    option: "--self-service",
  },
  ...MORE_SPECS,
];
