/** What the screens of teams, users, customers and organizations differ in, as data. */

import type { ComponentChildren, ComponentType } from "preact";
import type { Limits } from "../../api/records.ts";
import type { ObjectPlace } from "../../app/object-rules.ts";
import type { Choice } from "../../parts/field.tsx";
import type { IconName } from "../../parts/icon.tsx";
import type { Column } from "../../parts/table.tsx";
import type { FieldSpec } from "../field-spec.ts";

/** The fields that name one record in a query and in a body. */
export type Names = Readonly<Record<string, string>>;

/** A kind of records. */
export interface TenantKind<Row extends Limits> {
  /** In paths: `/team/new`. */
  readonly kind: "team" | "user" | "customer" | "organization";
  /** In routes of the page, in the command line, and in the answer of the list: `teams`. */
  readonly plural: "teams" | "users" | "customers" | "organizations";
  readonly title: string;
  readonly lead: string;
  readonly icon: IconName;
  readonly search: string;
  readonly nameOf: (row: Row) => string;
  /** The segments of its page, behind the name of the screen. */
  readonly pathOf: (row: Row) => readonly string[];
  /** What names the record of a path to the gateway. */
  readonly namesOf: (path: readonly string[]) => Names;
  readonly columns: readonly Column<Row>[];
  readonly specs: readonly FieldSpec[];
  readonly facts: (row: Row) => readonly (readonly [name: string, value: ComponentChildren])[];
  /** Filters of the list besides the search. */
  readonly filters: readonly ("organization_id" | "user_id" | "team_id")[];
  /** Actions of docs/roles.md. */
  readonly may: Readonly<Record<"create" | "update" | "block" | "unblock" | "delete", string>>;
  /** Where a record is, for the rules of roles. */
  readonly placeOf: (row: Row) => ObjectPlace;
  readonly deletion: Deletion;
  /** Panels of its page. */
  readonly Panels?: ComponentType<{ readonly row: Row; readonly names: Names }>;
}

/** How records are deleted. */
export interface Deletion {
  readonly text: string;
  /** What becomes of its keys. */
  readonly keys?: readonly Choice[];
}
