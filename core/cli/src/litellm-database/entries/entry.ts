/** A row of an export as the gateway takes it. */

import type { JsonObject } from "@sluice/contract";

/** The kinds of records that are imported, each after those that it refers to. */
export const TABLES = [
  "budgets",
  "organizations",
  "access_groups",
  "users",
  "teams",
  "members",
  "keys",
  "customers",
] as const;
export type TableName = (typeof TABLES)[number];

/** A column that is not taken over. */
export interface Loss {
  readonly column: string;
  readonly why: string;
}

/** A record that another one names. */
export interface Reference {
  readonly table: TableName;
  readonly id: string;
  /** The field of the body. */
  readonly field: string;
}

/** A row as the gateway takes it, and what of it cannot be taken. */
export interface Entry {
  readonly id: string;
  readonly body: JsonObject;
  /** In the words of a message: `key "ci"`. */
  readonly name: string;
  /** What it names: without one of them it would be less limited. */
  readonly references: readonly Reference[];
  /** What bounds it and cannot be held: it is imported blocked, unless the loss is accepted. */
  readonly bounds: readonly Loss[];
  /** Bounds in a form that cannot be read: as `bounds`, and unblocking alone opens no model. */
  readonly unreadable: readonly Loss[];
  /** What else is left behind. */
  readonly losses: readonly Loss[];
}

/** A row that cannot be a record here. */
export interface LeftOut {
  /** Present where others may name it: they are left out too. */
  readonly id?: string;
  readonly name: string;
  readonly leftOut: string;
}

/** A model that does not exist: a list of it names none. LiteLLM has the same name for it. */
export const NO_MODEL = "no-default-models";
