/** The fields of a key's form. */

import type { FieldSpec } from "../../records/field-spec.ts";
import { organizationOptions, teamOptions, userOptions } from "../../records/options.ts";
import {
  BUDGET_SPECS,
  LIFE_SPECS,
  MODEL_ALIASES_SPEC,
  MODEL_SPECS,
  MORE_SPECS,
  TRAFFIC_SPECS,
} from "../../records/specs.ts";

/** The fields, in the order of the form. */
export const KEY_SPECS: readonly FieldSpec[] = [
  {
    name: "key_alias",
    label: "Name",
    hint: "What people call it.",
    group: "Name",
    kind: "text",
    option: "--alias",
  },
  {
    name: "team_id",
    label: "Team",
    group: "Owner",
    kind: "ref",
    optionsFor: teamOptions,
    takesOthers: false,
    option: "--team",
  },
  {
    name: "user_id",
    label: "User",
    group: "Owner",
    kind: "ref",
    optionsFor: userOptions,
    takesOthers: true,
    option: "--user",
  },
  ...MODEL_SPECS,
  ...BUDGET_SPECS,
  ...TRAFFIC_SPECS,
  ...LIFE_SPECS,
  {
    name: "organization_id",
    label: "Organization",
    hint: "Of a key without a team.",
    group: "More",
    kind: "ref",
    optionsFor: organizationOptions,
    takesOthers: false,
    option: "--organization",
  },
  {
    name: "customer_id",
    label: "Customer",
    hint: "The customer whose requests it makes.",
    group: "More",
    kind: "text",
    option: "--customer",
  },
  MODEL_ALIASES_SPEC,
  {
    name: "spend_scope",
    label: "Whose spend it may read",
    group: "More",
    kind: "choice",
    choices: [
      ["key", "Its own"],
      ["user", "That of its user"],
      ["team", "That of its team"],
    ],
    normal: "key",
    option: "--spend-scope",
  },
  ...MORE_SPECS,
  {
    name: "admin",
    label: "Opens the admin listener",
    hint: "With the roles of its user.",
    group: "More",
    kind: "flag",
  },
];
