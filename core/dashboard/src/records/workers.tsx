/** The workers of a gateway: what each of them runs. */

import type { ConfigStatus } from "../api/config.ts";
import { Mark } from "../parts/marks.tsx";
import { type Column, TablePanel } from "../parts/table.tsx";

type Worker = NonNullable<ConfigStatus["workers"]>[number];

const COLUMNS: readonly Column<Worker>[] = [
  { name: "worker", title: "Worker", isHead: true, cell: ({ worker }) => `Worker ${worker}` },
  { name: "pid", title: "Process", cell: ({ pid }) => <code>{pid}</code> },
  { name: "generation", title: "Generation", cell: (row) => row.generation ?? "–" },
  {
    name: "state",
    title: "State",
    cell: (row) =>
      row.answers ? <Mark tone="good">answers</Mark> : <Mark tone="bad">silent</Mark>,
  },
  { name: "differs", title: "Differs", cell: (row) => row.differs ?? "–" },
];

/** The panel. */
export function Workers({ workers }: { readonly workers: readonly Worker[] }) {
  return (
    <TablePanel title="Workers" columns={COLUMNS} rows={workers} keyOf={({ pid }) => String(pid)} />
  );
}
