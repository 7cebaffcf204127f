/** Overview: how the gateway is now, and was in the last minutes and hours. */

import type { Overview } from "../../api/overview.ts";
import type { ScreenProps } from "../../app/screen-props.ts";
import { useRead } from "../../app/live.ts";
import { useFilters } from "../../app/route.ts";
import { Segments } from "../../parts/field.tsx";
import { Head } from "../../parts/page.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { Attention } from "./attention.tsx";
import { Charts } from "./charts.tsx";
import { NearBudgets, WorstDeployments } from "./lists.tsx";
import { NowTiles } from "./now-tiles.tsx";

const WINDOWS = [
  ["15m", "15 min"],
  ["1h", "1 hour"],
  ["6h", "6 hours"],
  ["24h", "24 hours"],
] as const;

/** A longer window changes more slowly. */
const EVERY_MS: Readonly<Record<string, number>> = { "6h": 10_000, "24h": 30_000 };

/** The screen. */
export default function OverviewScreen(_props: ScreenProps) {
  const [filters, setFilters] = useFilters(["window"]);
  const window = filters.window === "" ? "1h" : filters.window;
  const { data, error, refetch } = useRead<Overview>(
    "/overview",
    { window },
    { isLive: true, everyMs: EVERY_MS[window] ?? 2_000 },
  );
  return (
    <>
      <Head
        title="Overview"
        actions={
          <Segments
            label="Time"
            value={window}
            choices={WINDOWS}
            onInput={(value) => setFilters({ window: value })}
          />
        }
      />
      {data === undefined ? (
        error ? (
          <Failure error={error} onRetry={() => void refetch()} />
        ) : (
          <Loading lines={8} />
        )
      ) : (
        <>
          <Attention items={data.attention} />
          <NowTiles overview={data} />
          <Charts overview={data} />
          <div class="columns">
            <WorstDeployments rows={data.deployments.worst} />
            <NearBudgets rows={data.budgets.nearest} total={data.budgets.total} />
          </div>
        </>
      )}
    </>
  );
}
