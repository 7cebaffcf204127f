/** Spend: money, tokens and requests, by whom and on what. */

import { useMemo } from "preact/hooks";
import type { SpendSummary } from "../../api/spend.ts";
import type { ScreenProps } from "../../app/screen-props.ts";
import { useRead } from "../../app/live.ts";
import { useFilters } from "../../app/route.ts";
import { Button } from "../../parts/button.tsx";
import { ChartPanel } from "../../parts/chart.tsx";
import { Select } from "../../parts/field.tsx";
import { money } from "../../parts/format.ts";
import { Head } from "../../parts/page.tsx";
import { Failure } from "../../parts/states.tsx";
import { lengthOf, type Period, periodOf, PERIODS } from "./periods.ts";
import { GROUPS, SpendTable } from "./spend-table.tsx";
import { Totals } from "./totals.tsx";

const NARROWS = [
  "organization_id",
  "team_id",
  "user_id",
  "api_key",
  "tag",
  "model",
  "provider",
  "end_user",
] as const;
const FILTERS = ["by", "period", ...NARROWS] as const;

/** A period of two days at most is shown by hours. Customers have no hours. */
const MAX_HOURLY_DAYS = 2;

/** The screen. */
export default function SpendScreen(_props: ScreenProps) {
  const [filters, setFilters] = useFilters(FILTERS);
  const by = filters.by === "" ? "key" : filters.by;
  const name = filters.period === "" ? "30d" : filters.period;
  const period = periodOf(name, Date.now());
  const narrow = Object.fromEntries(NARROWS.map((one) => [one, filters[one]]));
  const hasHours = filters.end_user === "" && lengthOf(period) <= MAX_HOURLY_DAYS;
  const bucket = hasHours ? "hour" : "day";
  const { data, error, refetch } = useRead<SpendSummary>("/spend/summary", {
    ...period,
    ...narrow,
    bucket,
    group_by: by,
  });
  return (
    <>
      <Head
        title="Spend"
        lead="Sums of the ledger, exact to the nano-dollar. Days and hours are UTC."
      />
      <div class="filters">
        <Select
          label="Period"
          value={name}
          choices={PERIODS}
          onInput={(value) => setFilters({ period: value })}
        />
        <Select
          label="Group by"
          value={by}
          choices={GROUPS}
          onInput={(value) => setFilters({ by: value })}
        />
        {NARROWS.filter((one) => filters[one] !== "").map((one) => (
          <Button key={one} icon="close" onClick={() => setFilters({ [one]: "" })}>
            {one.replace("_id", "").replace("_", " ")}: {filters[one]}
          </Button>
        ))}
      </div>
      {error ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : (
        <>
          <Totals total={data?.total} period={name} />
          <SpendChart summary={data} period={period} bucket={bucket} />
          <SpendTable
            by={by}
            groups={data?.groups}
            onNarrow={(filter, value) => setFilters({ [filter]: value }, "push")}
          />
        </>
      )}
    </>
  );
}

const STEP_MS = { hour: 3_600_000, day: 86_400_000 } as const;

/** All hours or days of the period: those without a row cost nothing. */
function SpendChart(props: {
  readonly summary: SpendSummary | undefined;
  readonly period: Period;
  readonly bucket: "hour" | "day";
}) {
  const { summary, period, bucket } = props;
  const { from, to } = period;
  const { times, spend, lost } = useMemo(() => {
    const step = STEP_MS[bucket];
    const end = Math.min(Date.parse(to) + STEP_MS.day, Date.now());
    const starts: number[] = [];
    for (let at = Date.parse(from); at < end; at += step) starts.push(at);
    const found = new Map(summary?.times.map((one) => [Date.parse(one.start), one]));
    return {
      times: starts.map((at) => at / 1_000),
      spend: starts.map((at) => found.get(at)?.spend ?? 0),
      lost: starts.map((at) => found.get(at)?.lost_spend ?? 0),
    };
  }, [summary, from, to, bucket]);
  return (
    <ChartPanel
      title={bucket === "day" ? "Spend a day" : "Spend an hour"}
      times={times}
      format={money}
      isDaily={bucket === "day"}
      series={[
        { name: "Spend", values: spend, colour: 1, kind: "bars" },
        { name: "Of failed and cut requests", values: lost, colour: 4, kind: "bars" },
      ]}
    />
  );
}
