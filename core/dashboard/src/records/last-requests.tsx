/** The newest requests of something, as a panel. */

import type { RequestPage, RequestRow } from "../api/records.ts";
import { useRead } from "../app/live.ts";
import { useMay } from "../app/may.ts";
import { href } from "../app/route.ts";
import { SCREENS } from "../app/screens.ts";
import { compact, duration, money } from "../parts/format.ts";
import { Mark, Moment } from "../parts/marks.tsx";
import { Panel } from "../parts/page.tsx";
import { Empty } from "../parts/states.tsx";
import { type Column, Table } from "../parts/table.tsx";

const SHOWN = 10;

/** The status of a request, with its error. */
export function StatusMark({ row }: { readonly row: Pick<RequestRow, "status" | "error"> }) {
  const { status, error } = row;
  if (error === null && status !== null && status < 400) return <Mark tone="good">{status}</Mark>;
  const isClient = status !== null && status >= 400 && status < 500;
  return (
    <Mark tone={isClient ? "warn" : "bad"} title={error ?? undefined}>
      {status ?? "failed"}
    </Mark>
  );
}

/** Columns of lists of requests. */
export const REQUEST_COLUMNS: readonly Column<RequestRow>[] = [
  {
    name: "time",
    title: "Time",
    isHead: true,
    cell: (row) => {
      const isThere = SCREENS.some(({ name }) => name === "requests");
      if (!isThere) return <Moment at={row.started_at} />;
      return (
        <span class="main-cell">
          <a href={href(["requests", row.request_id])}>
            <Moment at={row.started_at} />
          </a>
        </span>
      );
    },
    text: (row) => row.started_at,
  },
  {
    name: "status",
    title: "Status",
    cell: (row) => (
      <span class="main-cell">
        <StatusMark row={row} />
        <small>{row.error}</small>
      </span>
    ),
    text: (row) => row.error ?? row.status,
  },
  {
    name: "model",
    title: "Model",
    cell: (row) => (
      <span class="main-cell">
        <span>{row.model ?? "–"}</span>
        <small>{row.deployment}</small>
      </span>
    ),
    text: (row) => row.model,
  },
  {
    name: "attempts",
    title: "Attempts",
    isNumber: true,
    cell: (row) => row.attempts,
    text: (row) => row.attempts,
  },
  {
    name: "tokens",
    title: "Tokens",
    isNumber: true,
    cell: (row) => compact(row.total_tokens),
    text: (row) => row.total_tokens,
  },
  {
    name: "cost",
    title: "Cost",
    isNumber: true,
    cell: (row) => money(row.cost),
    text: (row) => row.cost,
  },
  {
    name: "duration",
    title: "Duration",
    isNumber: true,
    cell: (row) => duration(row.total_ms),
    text: (row) => row.total_ms,
  },
];

/** The panel. */
export function LastRequests(props: {
  readonly title: string;
  readonly filter: Readonly<Record<string, string>>;
}) {
  const { title, filter } = props;
  const isAllowed = useMay()("request.read");
  const { data, error, refetch } = useRead<RequestPage>(
    "/requests",
    { ...filter, limit: SHOWN },
    { isLive: true, enabled: isAllowed },
  );
  if (!isAllowed) return null;
  const isThere = SCREENS.some(({ name }) => name === "requests");
  return (
    <Panel
      title={title}
      isFlush
      end={isThere && <a href={href(["requests"], filter)}>All requests</a>}
    >
      <Table
        caption={title}
        columns={REQUEST_COLUMNS}
        rows={data?.requests}
        keyOf={(row) => row.request_id}
        error={error}
        onRetry={() => void refetch()}
        empty={<Empty icon="requests" title="No requests yet" />}
      />
    </Panel>
  );
}
