/** The fields of a user's form. */

import type { FieldSpec } from "../../records/field-spec.ts";
import { organizationOptions } from "../../records/options.ts";
import {
  BUDGET_SPECS,
  LIFE_SPECS,
  MODEL_SPECS,
  MORE_SPECS,
  TRAFFIC_SPECS,
} from "../../records/specs.ts";

/** The fields, in the order of the form. */
export const USER_SPECS: readonly FieldSpec[] = [
  { name: "user_alias", label: "Name", group: "Name", kind: "text", option: "--alias" },
  {
    name: "user_id",
    label: "Id",
    hint: "An employee number, an e-mail, a workload's name. It stays.",
    group: "Name",
    kind: "text",
    isFixed: true,
    isPositional: true,
  },
  { name: "user_email", label: "E-mail", group: "Name", kind: "text", option: "--email" },
  {
    name: "kind",
    label: "Kind",
    group: "Name",
    kind: "choice",
    choices: [
      ["person", "Person"],
      ["service", "Service: cannot sign in"],
    ],
    normal: "person",
    option: "--kind",
  },
  {
    name: "organizations",
    label: "Organizations",
    group: "Owner",
    kind: "names",
    optionsFor: organizationOptions,
    takesOthers: false,
    option: "--organizations",
  },
  ...MODEL_SPECS,
  ...BUDGET_SPECS,
  ...TRAFFIC_SPECS,
  ...LIFE_SPECS,
  ...MORE_SPECS,
];
