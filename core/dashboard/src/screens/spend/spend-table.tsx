/** Groups of a report, the highest spend first, beside the period before. */

import type { SpendGroup } from "../../api/spend.ts";
import { href } from "../../app/route.ts";
import { compact, money, share } from "../../parts/format.ts";
import { Empty } from "../../parts/states.tsx";
import { type Column, Table, TableTools, useColumns } from "../../parts/table.tsx";

/** What a report is grouped by. */
export const GROUPS = [
  ["key", "By key"],
  ["team", "By team"],
  ["user", "By user"],
  ["organization", "By organization"],
  ["customer", "By customer"],
  ["model", "By model"],
  ["provider", "By provider"],
  ["tag", "By tag"],
] as const;

/** The member of a group that names it, and the screen of what it names. */
const NAMES: Readonly<Record<string, { readonly id: Id; readonly screen?: string }>> = {
  key: { id: "api_key", screen: "keys" },
  team: { id: "team_id", screen: "teams" },
  user: { id: "user_id", screen: "users" },
  organization: { id: "organization_id", screen: "organizations" },
  customer: { id: "end_user" },
  model: { id: "model" },
  provider: { id: "provider" },
  tag: { id: "tag" },
};

type Id =
  | "api_key"
  | "team_id"
  | "user_id"
  | "organization_id"
  | "end_user"
  | "model"
  | "provider"
  | "tag";

interface Row extends SpendGroup {
  readonly id: string | null;
  /** Of all shown groups, from 0 to 1. */
  readonly part: number;
}

/** The table. */
export function SpendTable(props: {
  readonly by: string;
  readonly groups: readonly SpendGroup[] | undefined;
  readonly onNarrow: (filter: string, value: string) => void;
}) {
  const { by, groups, onNarrow } = props;
  const { id, screen } = NAMES[by] ?? { id: "api_key" };
  const highest = Math.max(...(groups ?? []).map(({ spend }) => spend), 0);
  const rows = groups?.map((group): Row => ({
    ...group,
    id: group[id] ?? null,
    part: highest === 0 ? 0 : group.spend / highest,
  }));
  const columns = columnsOf(by, id, screen, onNarrow);
  const chosen = useColumns(columns);
  return (
    <section class="panel" aria-label="Groups">
      <header>
        <h2>{GROUPS.find(([name]) => name === by)?.[1] ?? "By key"}</h2>
        <span class="end row">
          <TableTools caption={`Spend by ${by}`} columns={columns} chosen={chosen} rows={rows} />
        </span>
      </header>
      <Table
        caption={`Spend by ${by}`}
        columns={columns}
        chosen={chosen}
        rows={rows}
        keyOf={(row) => row.id ?? "none"}
        empty={<Empty icon="spend" title="Nothing was spent in this period" />}
      />
    </section>
  );
}

function columnsOf(
  by: string,
  id: Id,
  screen: string | undefined,
  onNarrow: (filter: string, value: string) => void,
): readonly Column<Row>[] {
  return [
    {
      name: "name",
      title: by === "key" ? "Key" : `${by[0]?.toUpperCase()}${by.slice(1)}`,
      isHead: true,
      cell: (row) => <Name row={row} screen={screen} />,
      text: (row) => row.key_alias ?? row.id,
    },
    {
      name: "spend",
      title: "Spend",
      cell: (row) => (
        <span class="meter">
          <span>{money(row.spend)}</span>
          <span class="track">
            <span class="fill" style={{ width: `${row.part * 100}%` }} />
          </span>
        </span>
      ),
      text: ({ spend }) => spend,
    },
    {
      name: "before",
      title: "Period before",
      isNumber: true,
      cell: (row) => <Compared row={row} />,
      text: (row) => row.spend_before,
    },
    ...AMOUNTS,
    {
      name: "narrow",
      title: "",
      isNumber: true,
      cell: (row) =>
        row.id !== null && (
          <button type="button" class="button quiet" onClick={() => onNarrow(id, row.id ?? "")}>
            Only this
          </button>
        ),
    },
  ];
}

function Name({ row, screen }: { readonly row: Row; readonly screen: string | undefined }) {
  if (row.id === null) return <span class="muted">none</span>;
  const name = row.key_alias ?? row.id;
  return (
    <span class="main-cell">
      {screen === undefined ? <strong>{name}</strong> : <a href={href([screen, row.id])}>{name}</a>}
      {row.key_alias != null && <small class="mono">{row.id}</small>}
    </span>
  );
}

function Compared({ row: { spend, spend_before: before } }: { readonly row: Row }) {
  if (before === null) return <span class="muted">–</span>;
  if (before === 0) return <>{money(0)}</>;
  const change = spend / before - 1;
  return (
    <span title={`${money(before)} in the period before`}>
      {change >= 0 ? "+" : "−"}
      {share(Math.abs(change))}
    </span>
  );
}

type Amount =
  | "requests"
  | "total_tokens"
  | "cache_hits"
  | "unpriced_rows"
  | "estimated_rows"
  | "prompt_tokens"
  | "completion_tokens"
  | "cached_tokens";

function number(name: Amount, title: string): Column<Row> {
  return {
    name,
    title,
    isNumber: true,
    cell: (row) => compact(row[name]),
    text: (row) => row[name],
  };
}

const AMOUNTS: readonly Column<Row>[] = [
  number("requests", "Requests"),
  number("total_tokens", "Tokens"),
  {
    name: "lost",
    title: "Failed and cut",
    isNumber: true,
    cell: (row) => money(row.lost_spend),
    text: (row) => row.lost_spend,
  },
  number("cache_hits", "From cache"),
  number("unpriced_rows", "Without price"),
  { ...number("estimated_rows", "Estimated"), isHiddenAtFirst: true },
  { ...number("prompt_tokens", "Tokens in"), isHiddenAtFirst: true },
  { ...number("completion_tokens", "Tokens out"), isHiddenAtFirst: true },
  { ...number("cached_tokens", "Tokens cached"), isHiddenAtFirst: true },
];
