/** The columns of the list of keys. */

import type { ListedKey } from "../../api/records.ts";
import { href } from "../../app/route.ts";
import { When } from "../../parts/marks.tsx";
import type { Column } from "../../parts/table.tsx";
import { IdLink, limitColumns, OriginMark, StateMark } from "../../records/limit-views.tsx";

/** The columns. */
export const KEY_COLUMNS: readonly Column<ListedKey>[] = [
  {
    name: "name",
    title: "Key",
    isHead: true,
    cell: (row) => (
      <span class="main-cell">
        <a href={href(["keys", row.token_id])}>{row.key_alias ?? row.token_id}</a>
        <small class="mono">{row.key_name ?? row.token_id}</small>
      </span>
    ),
    text: (row) => row.key_alias ?? row.token_id,
  },
  {
    name: "id",
    title: "Id",
    cell: (row) => <code>{row.token_id}</code>,
    text: (row) => row.token_id,
    isHiddenAtFirst: true,
  },
  {
    name: "state",
    title: "State",
    cell: (row) => (
      <span class="row nowrap">
        <StateMark state={row.status} spend={row.spend} max={row.max_budget} />
        <OriginMark by={row.managed_by} place={row.declared_in} />
      </span>
    ),
    text: (row) => row.status,
  },
  {
    name: "team",
    title: "Team",
    cell: (row) => <IdLink screen="teams" id={row.team_id} />,
    text: (row) => row.team_id,
  },
  {
    name: "user",
    title: "User",
    cell: (row) => <IdLink screen="users" id={row.user_id} />,
    text: (row) => row.user_id,
  },
  ...limitColumns<ListedKey>("Spend"),
  {
    name: "used",
    title: "Last used",
    cell: (row) => <When at={row.last_used_at} />,
    text: (row) => row.last_used_at,
  },
];
