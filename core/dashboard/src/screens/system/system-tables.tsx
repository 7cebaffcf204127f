/** Tables of the system: processes, event-loop blocks, plugins. */

import type { SystemAnswer } from "../../api/system.ts";
import { bytes, count, duration, span } from "../../parts/format.ts";
import { Empty } from "../../parts/states.tsx";
import { type Column, TablePanel } from "../../parts/table.tsx";

type Process = SystemAnswer["processes"][number];
type Block = SystemAnswer["blocks"][number];
type Plugin = SystemAnswer["plugins"][number];

const PROCESSES: readonly Column<Process>[] = [
  {
    name: "process",
    title: "Process",
    isHead: true,
    cell: ({ worker, pid }) => (worker === null ? `Process ${pid}` : `Worker ${worker}, ${pid}`),
  },
  { name: "uptime", title: "Up", isNumber: true, cell: (row) => span(row.uptime_s * 1_000) },
  { name: "memory", title: "Memory", isNumber: true, cell: (row) => bytes(row.memory_bytes) },
  { name: "heap", title: "Heap", isNumber: true, cell: (row) => bytes(row.heap_bytes) },
  {
    name: "delay",
    title: "Loop delay p99",
    isNumber: true,
    cell: (row) => duration(row.loop_delay_p99_ms),
  },
  { name: "flight", title: "In flight", isNumber: true, cell: (row) => count(row.in_flight) },
  {
    name: "outbox",
    title: "Outbox batches",
    isNumber: true,
    cell: (row) => count(row.outbox_batches),
  },
  { name: "lag", title: "Ledger lag", isNumber: true, cell: (row) => duration(row.ledger_lag_ms) },
  { name: "kept", title: "Rows in memory", isNumber: true, cell: (row) => count(row.kept_rows) },
  { name: "files", title: "Open files", isNumber: true, cell: (row) => count(row.open_files) },
];

/** The processes. */
export function ProcessTable({ processes }: Pick<SystemAnswer, "processes">) {
  return (
    <TablePanel
      title="Processes"
      columns={PROCESSES}
      rows={processes}
      keyOf={({ pid }) => String(pid)}
    />
  );
}

const BLOCKS: readonly Column<Block>[] = [
  { name: "plugin", title: "Whose code ran", isHead: true, cell: ({ plugin }) => plugin },
  { name: "count", title: "Blocks", isNumber: true, cell: (row) => count(row.count) },
  { name: "total", title: "Together", isNumber: true, cell: (row) => duration(row.total_ms) },
];

/** Event-loop blocks by plugin. */
export function Blocks({ blocks }: Pick<SystemAnswer, "blocks">) {
  return (
    <TablePanel
      title="Event-loop blocks"
      columns={BLOCKS}
      rows={blocks}
      keyOf={({ plugin }) => plugin}
      empty={<Empty icon="check" title="Nothing has held the event loop since the start" />}
    />
  );
}

const PLUGINS: readonly Column<Plugin>[] = [
  { name: "package", title: "Package", isHead: true, cell: (row) => row.package },
  {
    name: "version",
    title: "Version",
    cell: ({ version }) => version ?? <span class="muted">a file of your own</span>,
  },
  { name: "provides", title: "Plugins in it", isNumber: true, cell: (row) => count(row.provides) },
];

/** The loaded packages. */
export function Plugins({ plugins }: Pick<SystemAnswer, "plugins">) {
  return (
    <TablePanel
      title="Plugins"
      columns={PLUGINS}
      rows={plugins}
      keyOf={(row) => row.package}
      empty={<Empty icon="info" title="No package is loaded" />}
    />
  );
}
