/** The newest requests first, live, with filters that the gateway applies. */

import type { RequestPage } from "../../api/records.ts";
import { useRead } from "../../app/live.ts";
import { go, href, useFilters } from "../../app/route.ts";
import { Button } from "../../parts/button.tsx";
import { Select } from "../../parts/field.tsx";
import { Head } from "../../parts/page.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, Pager, Table, TableTools, useColumns } from "../../parts/table.tsx";
import type { RequestRow } from "../../api/records.ts";
import { REQUEST_COLUMNS } from "../../records/last-requests.tsx";

const LIMIT = 50;
const FILTERS = ["status", "model", "key", "guardrail", "since", "cursor"] as const;

type Filters = Readonly<Record<(typeof FILTERS)[number], string>>;
type Change = (changes: Partial<Filters>) => void;

const STATES = [
  ["", "Any outcome"],
  ["failed", "Failed"],
  ["ok", "Answered"],
] as const;

const NARROWS = { model: "Model", key: "Key", guardrail: "Guardrail" } as const;

const SPANS = [
  ["", "Any time"],
  ["15m", "Last 15 minutes"],
  ["1h", "Last hour"],
  ["24h", "Last 24 hours"],
  ["7d", "Last 7 days"],
] as const;

const COLUMNS: readonly Column<RequestRow>[] = [
  ...REQUEST_COLUMNS,
  {
    name: "key",
    title: "Key",
    cell: ({ key }) =>
      key.id === null ? (
        <span class="muted">–</span>
      ) : (
        <a href={href(["keys", key.id])}>{key.alias ?? key.id}</a>
      ),
    text: ({ key }) => key.alias ?? key.id,
  },
  {
    name: "operation",
    title: "Operation",
    cell: (row) => row.operation,
    text: (row) => row.operation,
    isHiddenAtFirst: true,
  },
  {
    name: "generation",
    title: "Generation",
    isNumber: true,
    cell: (row) => row.generation,
    text: (row) => row.generation,
    isHiddenAtFirst: true,
  },
  {
    name: "id",
    title: "Id",
    cell: (row) => <code>{row.request_id}</code>,
    text: (row) => row.request_id,
    isHiddenAtFirst: true,
  },
];

/** The list. A page behind the first one is not live. */
export function RequestList() {
  const [filters, setFilters] = useFilters(FILTERS);
  const { cursor } = filters;
  const chosen = useColumns(COLUMNS);
  const { data, error, refetch } = useRead<RequestPage>(
    "/requests",
    { ...filters, limit: LIMIT },
    { isLive: cursor === "" },
  );
  const rows = data?.requests;
  return (
    <>
      <Head
        title="Requests"
        lead="Why a request ended as it did: its steps, its decisions and each call of an upstream."
      />
      <section class="panel" aria-label="Requests">
        <header class="filters">
          <RequestFilters
            filters={filters}
            onChange={(changes) => setFilters({ cursor: "", ...changes })}
          />
          <span class="end row">
            <TableTools caption="Requests" columns={COLUMNS} chosen={chosen} rows={rows} />
          </span>
        </header>
        <Table
          caption="Requests"
          columns={COLUMNS}
          chosen={chosen}
          rows={rows}
          keyOf={(row) => row.request_id}
          error={error}
          onRetry={() => void refetch()}
          empty={<NoRequests filters={filters} />}
        />
        {rows !== undefined && rows.length > 0 && (
          <Pager
            shown={rows.length}
            noun={cursor === "" ? "newest requests, live" : "requests"}
            isFirst={cursor === ""}
            hasNext={data?.next_cursor != null}
            onFirst={() => setFilters({ cursor: "" }, "push")}
            onNext={() => setFilters({ cursor: data?.next_cursor ?? "" }, "push")}
          />
        )}
      </section>
    </>
  );
}

function RequestFilters({ filters, onChange }: { filters: Filters; onChange: Change }) {
  const { status } = filters;
  const isOther = status !== "" && !STATES.some(([value]) => value === status);
  return (
    <>
      <SearchBox
        label="Id of a request"
        value=""
        onSearch={(id) => {
          if (id !== "") go(href(["requests", id]));
        }}
      />
      <Select
        label="Outcome"
        value={status}
        choices={isOther ? [...STATES, [status, status]] : STATES}
        onInput={(value) => onChange({ status: value })}
      />
      <Select
        label="Time"
        value={filters.since}
        choices={SPANS}
        onInput={(since) => onChange({ since })}
      />
      {(["model", "key", "guardrail"] as const)
        .filter((name) => filters[name] !== "")
        .map((name) => (
          <Button key={name} icon="close" onClick={() => onChange({ [name]: "" })}>
            {NARROWS[name]}: {filters[name]}
          </Button>
        ))}
    </>
  );
}

function NoRequests({ filters }: { readonly filters: Filters }) {
  const isFiltered = Object.values(filters).some((value) => value !== "");
  return isFiltered ? (
    <Empty icon="search" title="No request matches">
      The ledger was searched from the newest request on. Choose a longer time, or fewer filters.
    </Empty>
  ) : (
    <Empty icon="requests" title="No requests yet">
      Each request of a client stands here within a second of its end.
    </Empty>
  );
}
