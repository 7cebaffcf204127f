/** What administrators did. */

import type { AuditLine, AuditPage } from "../../api/system.ts";
import { useRead } from "../../app/live.ts";
import { useFilters } from "../../app/route.ts";
import { Select } from "../../parts/field.tsx";
import { Mark, type Tone, When } from "../../parts/marks.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, Pager, Table, TableTools, useColumns } from "../../parts/table.tsx";

const LIMIT = 100;
const FILTERS = ["object", "action", "outcome", "since", "cursor"] as const;

const OUTCOMES = [
  ["", "Any outcome"],
  ["done", "Done"],
  ["refused", "Refused"],
  ["failed", "Failed"],
] as const;

const SPANS = [
  ["", "Any time"],
  ["24h", "Last 24 hours"],
  ["7d", "Last 7 days"],
  ["30d", "Last 30 days"],
] as const;

const TONES: Readonly<Record<AuditLine["outcome"], Tone>> = {
  begun: "plain",
  done: "good",
  refused: "bad",
  failed: "warn",
};

const COLUMNS: readonly Column<AuditLine>[] = [
  {
    name: "at",
    title: "When",
    isHead: true,
    cell: (line) => <When at={line.at} />,
    text: ({ at }) => at,
  },
  {
    name: "actor",
    title: "Who",
    cell: (line) => line.user_id ?? (line.actor === "master" ? "Master key" : line.actor),
    text: ({ user_id: user, actor }) => user ?? actor,
  },
  {
    name: "action",
    title: "Did",
    cell: ({ action }) => <code>{action}</code>,
    text: ({ action }) => action,
  },
  {
    name: "object",
    title: "To",
    cell: ({ object }) => object ?? <span class="muted">the gateway</span>,
    text: ({ object }) => object,
  },
  {
    name: "outcome",
    title: "Outcome",
    cell: ({ outcome }) => <Mark tone={TONES[outcome]}>{outcome}</Mark>,
    text: ({ outcome }) => outcome,
  },
  {
    name: "change",
    title: "Change",
    cell: (line) => <Change line={line} />,
    text: ({ before, after }) => JSON.stringify({ before, after }),
  },
  {
    name: "address",
    title: "From",
    cell: ({ address }) => <code>{address ?? "–"}</code>,
    text: ({ address }) => address,
  },
  {
    name: "seq",
    title: "Line",
    isNumber: true,
    cell: ({ seq }) => seq,
    text: ({ seq }) => seq,
    isHiddenAtFirst: true,
  },
  {
    name: "session",
    title: "Session",
    cell: ({ session }) => <code>{session ?? "–"}</code>,
    text: ({ session }) => session,
    isHiddenAtFirst: true,
  },
];

/** The part of the screen. */
export function Audit() {
  const [filters, setFilters] = useFilters(FILTERS);
  const { cursor } = filters;
  const chosen = useColumns(COLUMNS);
  const { data, error, refetch } = useRead<AuditPage>(
    "/audit",
    { ...filters, limit: LIMIT },
    { isLive: cursor === "" },
  );
  const rows = data?.lines;
  const change = (changes: Partial<typeof filters>): void => setFilters({ cursor: "", ...changes });
  return (
    <section class="panel" aria-label="Audit">
      <header class="filters">
        <SearchBox
          label="Object, such as team:support"
          value={filters.object}
          onSearch={(object) => change({ object })}
        />
        <Select
          label="Outcome"
          value={filters.outcome}
          choices={OUTCOMES}
          onInput={(outcome) => change({ outcome })}
        />
        <Select
          label="Time"
          value={filters.since}
          choices={SPANS}
          onInput={(since) => change({ since })}
        />
        <span class="end row">
          <TableTools caption="Audit" columns={COLUMNS} chosen={chosen} rows={rows} />
        </span>
      </header>
      <Table
        caption="Audit"
        columns={COLUMNS}
        chosen={chosen}
        rows={rows}
        keyOf={({ seq }) => String(seq)}
        error={error}
        onRetry={() => void refetch()}
        empty={<Empty icon="history" title="No line matches" />}
      />
      {rows !== undefined && rows.length > 0 && (
        <Pager
          shown={rows.length}
          noun={rows.length === 1 ? "line" : "lines"}
          isFirst={cursor === ""}
          hasNext={data?.next_cursor != null}
          onFirst={() => setFilters({ cursor: "" }, "push")}
          onNext={() => setFilters({ cursor: data?.next_cursor ?? "" }, "push")}
        />
      )}
    </section>
  );
}

/** Fields that changed. What a new record has is folded: it is long and was nothing before. */
function Change({ line: { before, after } }: { readonly line: AuditLine }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  if (names.length === 0) return <span class="muted">–</span>;
  const lines = names.map((name) => (
    <li key={name}>
      <code>{name}</code> {valueText(before?.[name])} → {valueText(after?.[name])}
    </li>
  ));
  if (names.length <= MAX_LINES) return <ul class="wrap">{lines}</ul>;
  return (
    <details class="wrap">
      <summary>{names.length} fields</summary>
      <ul>{lines}</ul>
    </details>
  );
}

const MAX_LINES = 2;
const MAX_VALUE = 60;

function valueText(value: unknown): string {
  if (value === undefined || value === null) return "none";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}
