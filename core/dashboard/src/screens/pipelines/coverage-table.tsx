/** Routes × protections: what `sluice check --coverage` prints. */

import type { ApiError } from "../../api/api-error.ts";
import type { Coverage } from "../../api/config.ts";
import { duration } from "../../parts/format.ts";
import { Mark } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { type Column, Table, TableTools, useColumns } from "../../parts/table.tsx";
import { Place } from "../../records/place.tsx";

type Row = Coverage["routes"][number];

const has = (name: "auth" | "limits" | "budget" | "cost", title: string): Column<Row> => ({
  name,
  title,
  cell: (row) => (row[name] ? <Mark tone="good">yes</Mark> : <Mark tone="warn">no</Mark>),
  text: (row) => (row[name] ? "yes" : "no"),
});

const names = (name: "guardrails_in" | "guardrails_out", title: string): Column<Row> => ({
  name,
  title,
  cell: (row) => (row[name].length === 0 ? <span class="muted">none</span> : row[name].join(", ")),
  text: (row) => row[name].join(",") || "none",
});

const COLUMNS: readonly Column<Row>[] = [
  {
    name: "route",
    title: "Route",
    isHead: true,
    cell: ({ route }) => <code class="nowrap">{route}</code>,
    text: ({ route }) => route,
  },
  { name: "pipeline", title: "Pipeline", cell: (row) => row.pipeline, text: (row) => row.pipeline },
  has("auth", "Key"),
  has("limits", "Limits"),
  has("budget", "Budget"),
  has("cost", "Cost"),
  names("guardrails_in", "Guardrails in"),
  names("guardrails_out", "Guardrails out"),
  { name: "stream", title: "Streams", cell: (row) => row.stream, text: (row) => row.stream },
  {
    name: "deadline",
    title: "Deadline",
    isNumber: true,
    cell: (row) => duration(row.deadline_ms),
    text: (row) => row.deadline_ms,
  },
  {
    name: "tests",
    title: "Tests",
    isNumber: true,
    cell: (row) => row.tests,
    text: (row) => row.tests,
  },
  {
    name: "place",
    title: "Line",
    cell: ({ file, line }) => <Place file={file} line={line} />,
    text: ({ file, line }) => `${file}:${line}`,
  },
];

/** The table. */
export function CoverageTable(props: {
  readonly rows: readonly Row[] | undefined;
  readonly error: ApiError | null;
  readonly onRetry: () => void;
}) {
  const { rows, error, onRetry } = props;
  const chosen = useColumns(COLUMNS);
  const caption = "What protects each route";
  return (
    <Panel
      title={caption}
      isFlush
      end={<TableTools caption={caption} columns={COLUMNS} chosen={chosen} rows={rows} />}
    >
      <Table
        caption={caption}
        columns={COLUMNS}
        chosen={chosen}
        rows={rows}
        keyOf={({ route }) => route}
        error={error}
        onRetry={onRetry}
      />
    </Panel>
  );
}
