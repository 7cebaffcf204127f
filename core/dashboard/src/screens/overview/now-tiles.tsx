/** The figures of the last minute, and of the window. */

import type { Overview } from "../../api/overview.ts";
import { compact, count, duration, money, rate, share } from "../../parts/format.ts";
import { Spark } from "../../parts/spark.tsx";
import { Tile, Tiles } from "../../parts/tiles.tsx";

/** Points of a line as high as a word. */
const SPARK_POINTS = 48;

/** The tiles. */
export function NowTiles({ overview }: { readonly overview: Overview }) {
  const { now, series } = overview;
  const requests = sum(series.requests);
  const errors = ["client_errors", "gateway_errors", "upstream_errors"] as const;
  const [client, gateway, upstream] = errors.map((name) => sum(series[name])) as [
    number,
    number,
    number,
  ];
  const ours = gateway + upstream;
  return (
    <Tiles>
      <Tile
        name="Requests a second"
        value={rate(now.requests_per_second)}
        more={`${compact(requests)} in the window`}
      >
        <Spark values={thinned(series.requests)} />
      </Tile>
      <Tile
        name="Failed"
        value={share(requests === 0 ? undefined : ours / requests)}
        more={`${compact(upstream)} upstream, ${compact(gateway)} gateway, ${compact(client)} client`}
      />
      <Tile
        name="First content"
        value={duration(last(series.first_content_p50_ms))}
        more={`p95 ${duration(last(series.first_content_p95_ms))}`}
      >
        <Spark values={thinned(series.first_content_p95_ms)} />
      </Tile>
      <Tile
        name="Own time"
        value={duration(last(series.overhead_p50_ms))}
        more={`p95 ${duration(last(series.overhead_p95_ms))}`}
      />
      <Tile
        name="Cost a minute"
        value={money(now.cost_per_minute)}
        more={`${money(sum(series.cost))} in the window`}
      />
      <Tile
        name="In flight"
        value={count(now.in_flight)}
        more={now.queued > 0 ? `${count(now.queued)} queued` : "none queued"}
      />
    </Tiles>
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function last(values: readonly (number | null)[]): number | null {
  return values.findLast((value) => value !== null) ?? null;
}

/** Fewer points: each is the highest of those that it stands for. */
function thinned(values: readonly (number | null)[]): readonly (number | null)[] {
  const each = Math.max(1, Math.ceil(values.length / SPARK_POINTS));
  return Array.from({ length: Math.ceil(values.length / each) }, (_, index) => {
    const part = values.slice(index * each, (index + 1) * each).filter((value) => value !== null);
    return part.length === 0 ? null : Math.max(...part);
  });
}
