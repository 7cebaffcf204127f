/** Keys of a page that are selected for one change. */

import { useEffect, useState } from "preact/hooks";
import type { ListedKey } from "../../api/records.ts";
import type { Column } from "../../parts/table.tsx";

const NONE: ReadonlySet<string> = new Set();

/** The ids, and the column that selects. Another page, or another filter, selects none. */
export function useSelection(filters: Readonly<Record<string, string>>) {
  const [ids, setIds] = useState(NONE);
  const place = JSON.stringify(filters);
  useEffect(() => setIds(NONE), [place]);
  const toggle = (id: string): void => {
    const next = new Set(ids);
    if (!next.delete(id)) next.add(id);
    setIds(next);
  };
  const column: Column<ListedKey> = {
    name: "select",
    title: "Select",
    cell: ({ token_id: id, key_alias: alias, managed_by: by }) =>
      by === "file" ? null : (
        <input
          type="checkbox"
          class="select-row"
          aria-label={`Select ${alias ?? id}`}
          checked={ids.has(id)}
          onChange={() => toggle(id)}
        />
      ),
  };
  return { ids, column, clear: () => setIds(NONE) };
}
