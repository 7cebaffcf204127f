/** What a customer spent, day by day. */

import type { CustomerRow } from "../../api/records.ts";
import { useRead } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { compact, money } from "../../parts/format.ts";
import { Panel } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";

const DAYS = 30;
const DAY_MS = 86_400_000;

interface DayGroup {
  readonly start: string;
  readonly spend: number | null;
  readonly requests: number;
  readonly total_tokens: number;
}

interface DayReport {
  readonly data: readonly DayGroup[];
}

const COLUMNS: readonly Column<DayGroup>[] = [
  { name: "day", title: "Day (UTC)", isHead: true, cell: ({ start }) => start.slice(0, 10) },
  { name: "spend", title: "Spend", isNumber: true, cell: (row) => money(row.spend) },
  { name: "requests", title: "Requests", isNumber: true, cell: (row) => compact(row.requests) },
  { name: "tokens", title: "Tokens", isNumber: true, cell: (row) => compact(row.total_tokens) },
];

/** The panel. */
export function CustomerSpend({ row }: { readonly row: CustomerRow }) {
  const isAllowed = useMay()("spend.read");
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const { data, error, refetch } = useRead<DayReport>(
    "/spend/report",
    {
      end_user: row.customer_id,
      bucket: "day",
      group_by: "customer",
      from: day(Date.now() - DAYS * DAY_MS),
      to: day(Date.now()),
      ...(row.organization_id !== null && { organization_id: row.organization_id }),
    },
    { enabled: isAllowed },
  );
  if (!isAllowed) return null;
  return (
    <Panel title={`Spend of the last ${DAYS} days`} isFlush>
      <Table
        caption="Spend by day"
        columns={COLUMNS}
        rows={data?.data.toReversed()}
        keyOf={({ start }) => start}
        error={error}
        onRetry={() => void refetch()}
        empty={<Empty icon="spend" title="Nothing was spent" />}
      />
    </Panel>
  );
}
