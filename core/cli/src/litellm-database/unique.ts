/** What only one record may have here, and several rows of LiteLLM may. */

import { foldedTenantId, type JsonObject } from "@sluice/contract";
import type { Entry, TableName } from "./entries/entry.ts";

/** Labels that are unique, and the field of the place in which they are. */
const LABELS: Partial<
  Record<TableName, { readonly field: string; readonly within?: string; readonly folds?: true }>
> = {
  organizations: { field: "organization_alias" },
  users: { field: "user_email", folds: true },
  teams: { field: "team_alias", within: "organization_id" },
  customers: { field: "customer_alias", within: "organization_id" },
};
/** Ids of these are compared without differences of case, width and surrounding spaces. */
const FOLDED: readonly TableName[] = [
  "budgets",
  "organizations",
  "access_groups",
  "users",
  "teams",
];

/** Compares the rows of one export, so that a dry run says what an import would. */
export class Uniques {
  readonly #ids = new Map<string, string>();
  readonly #labels = new Map<string, string>();

  /** Why an entry is left out; `undefined`: its id is its own. */
  refusalOf(table: TableName, { id }: Entry): string | undefined {
    if (!FOLDED.includes(table)) return undefined;
    const first = firstOf(this.#ids, `${table}:${foldedTenantId(id)}`, id);
    return first === id
      ? undefined
      : "another row has an id that differs only by case, width or spaces";
  }

  /** The body without a label that an earlier row has, and why. */
  bodyOf(
    table: TableName,
    { id }: Entry,
    body: JsonObject,
  ): { readonly body: JsonObject; readonly changed?: string } {
    const { field, within = "", folds = false } = LABELS[table] ?? {};
    const label = field === undefined ? undefined : body[field];
    if (field === undefined || typeof label !== "string") return { body };
    const key = JSON.stringify([
      table,
      body[within] ?? "",
      folds ? foldedTenantId(label) : label.normalize("NFC"),
    ]);
    if (firstOf(this.#labels, key, id) === id) return { body };
    const { [field]: _taken, ...rest } = body;
    return { body: rest, changed: `${field}: another one has it; this one has none` };
  }
}

function firstOf(map: Map<string, string>, key: string, id: string): string {
  const first = map.get(key);
  if (first !== undefined) return first;
  map.set(key, id);
  return id;
}
