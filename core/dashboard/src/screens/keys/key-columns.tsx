/** The columns of the list of keys. */

import type { KeyRow } from "../../api/records.ts";
import { href } from "../../app/route.ts";
import { When } from "../../parts/marks.tsx";
import type { Column } from "../../parts/table.tsx";
import { IdLink, limitColumns, OriginMark, StateMark } from "../../records/limit-views.tsx";

const SORTED: Readonly<Record<string, string>> = { spend: "spend", created: "created_at" };

/** The columns. */
export const KEY_COLUMNS: readonly Column<KeyRow>[] = [
  {
    name: "name",
    title: "Key",
    sort: "alias",
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
        <StateMark record={row} />
        <OriginMark record={row} />
      </span>
    ),
    text: (row) => (row.blocked ? "blocked" : "active"),
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
  ...limitColumns<KeyRow>("Spend").map((column) => {
    const sort = SORTED[column.name];
    return sort === undefined ? column : { ...column, sort };
  }),
  {
    name: "used",
    title: "Last used",
    sort: "last_used_at",
    cell: (row) => <When at={row.last_used_at} />,
    text: (row) => row.last_used_at,
  },
];
