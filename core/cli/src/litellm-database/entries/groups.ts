/** Access groups that a row names by their ids. */

import type { ExportIndex } from "../export/export-index.ts";
import { listAt, type Row } from "../values.ts";
import type { Loss } from "./entry.ts";

/** Names of the groups. A group that is not in the export opens nothing. */
export function groupsOf(
  row: Row,
  { groups }: ExportIndex,
): { readonly names: readonly string[]; readonly losses: readonly Loss[] } {
  const ids = listAt(row, "access_group_ids");
  const names = ids.flatMap((id) => groups.get(id) ?? []);
  const why = "a group is not in the export: its models are not opened";
  return { names, losses: names.length < ids.length ? [{ column: "access_group_ids", why }] : [] };
}
