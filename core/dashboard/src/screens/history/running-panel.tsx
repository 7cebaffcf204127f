/** What runs: here, in each worker, and in the other instances of the store. */

import type { ConfigStatus } from "../../api/config.ts";
import { useRead } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { count } from "../../parts/format.ts";
import { Mark, When } from "../../parts/marks.tsx";
import { type Column, TablePanel } from "../../parts/table.tsx";
import { Tile, Tiles } from "../../parts/tiles.tsx";
import { Workers } from "../../records/workers.tsx";

/** The panel. */
export function RunningPanel({ status }: { readonly status: ConfigStatus }) {
  const { live, drift, draining, workers } = status;
  const leases = draining.reduce((sum, one) => sum + one.leases, 0);
  return (
    <>
      <Tiles>
        <Tile
          name="Generation"
          value={live?.generation ?? "–"}
          more={live === null ? "" : <When at={live.since} />}
        />
        <Tile
          name="Requests under way"
          value={count(live?.leases)}
          more={leases > 0 ? `${count(leases)} in older generations` : ""}
        />
        <Tile
          name="Files"
          value={
            drift.files_differ ? <Mark tone="warn">differ</Mark> : <Mark tone="good">same</Mark>
          }
          more={drift.files.map(({ path }) => path).join(", ")}
        />
        <Tile
          name="Digest"
          value={<span class="mono">{live?.digest.slice(0, 8) ?? "–"}</span>}
          more={live?.origin ?? ""}
        />
      </Tiles>
      {workers !== undefined && <Workers workers={workers} />}
      <Fleet />
    </>
  );
}

interface Instance {
  readonly id: string;
  readonly name: string;
  readonly is_self: boolean;
  readonly version: string;
  readonly state: "serving" | "draining" | "gone";
  readonly generation: number;
  readonly contents: string;
  readonly seen_at: string;
  readonly workers: { readonly expected: number; readonly serving: number };
  readonly refused: { readonly reasons: readonly string[] } | null;
}

interface FleetAnswer {
  readonly agree: boolean;
  readonly instances: readonly Instance[];
}

const STATE_TONES = { serving: "good", draining: "warn", gone: "bad" } as const;

const INSTANCE_COLUMNS: readonly Column<Instance>[] = [
  {
    name: "name",
    title: "Instance",
    isHead: true,
    cell: (row) => (
      <span class="row">
        {row.name}
        {row.is_self && <Mark tone="accent">this one</Mark>}
      </span>
    ),
  },
  {
    name: "state",
    title: "State",
    cell: ({ state }) => <Mark tone={STATE_TONES[state]}>{state}</Mark>,
  },
  { name: "generation", title: "Generation", cell: ({ generation }) => generation },
  {
    name: "contents",
    title: "Contents",
    cell: ({ contents }) => <code>{contents.slice(0, 8)}</code>,
  },
  {
    name: "workers",
    title: "Workers",
    cell: ({ workers }) => `${workers.serving} of ${workers.expected}`,
  },
  { name: "version", title: "Version", cell: ({ version }) => version },
  { name: "seen", title: "Seen", cell: (row) => <When at={row.seen_at} /> },
  {
    name: "refused",
    title: "Refused",
    cell: ({ refused }) =>
      refused === null ? <span class="muted">–</span> : refused.reasons.join("; "),
  },
];

/** Other gateways on the same store. One alone needs no table. */
function Fleet() {
  const isAllowed = useMay()("status.read");
  const { data } = useRead<FleetAnswer>(
    "/fleet",
    {},
    { enabled: isAllowed, isLive: true, everyMs: 10_000 },
  );
  if (data === undefined || data.instances.length < 2) return null;
  const mark = data.agree ? (
    <Mark tone="good">all run the same files</Mark>
  ) : (
    <Mark tone="warn">they run different files</Mark>
  );
  return (
    <TablePanel
      title="Instances"
      end={mark}
      columns={INSTANCE_COLUMNS}
      rows={data.instances}
      keyOf={({ id }) => id}
    />
  );
}
