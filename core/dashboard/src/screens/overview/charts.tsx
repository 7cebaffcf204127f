/** The charts of the overview. Vertical lines are generations. */

import { useMemo } from "preact/hooks";
import type { Overview } from "../../api/overview.ts";
import { ChartPanel } from "../../parts/chart.tsx";
import { duration, money, rate } from "../../parts/format.ts";

/** All of them, side by side where there is room. */
export function Charts({ overview }: { readonly overview: Overview }) {
  const { from, step_s: step, series } = overview;
  const times = useMemo(
    () => series.requests.map((_, index) => Date.parse(from) / 1_000 + index * step),
    [from, step, series],
  );
  const rates = useMemo(() => ratesOf(series, step), [series, step]);
  const marks = useMemo(() => marksOf(overview), [overview.marks]);
  const shared = { times, marks };
  return (
    <div class="columns charts">
      <ChartPanel
        {...shared}
        title="Requests a second"
        format={rate}
        series={[
          { name: "All", values: rates.requests, colour: 1, kind: "area" },
          { name: "Client's errors", values: rates.client_errors, colour: 2 },
          { name: "Gateway's errors", values: rates.gateway_errors, colour: 3 },
          { name: "Upstream's errors", values: rates.upstream_errors, colour: 4 },
        ]}
      />
      <ChartPanel
        {...shared}
        title="Time to first content"
        format={duration}
        series={quantiles(series.first_content_p50_ms, series.first_content_p95_ms)}
      />
      <ChartPanel
        {...shared}
        title="The gateway's own time"
        format={duration}
        series={quantiles(series.overhead_p50_ms, series.overhead_p95_ms)}
      />
      <ChartPanel
        {...shared}
        title="Cost a minute"
        format={money}
        series={[{ name: "Cost", values: rates.cost, colour: 5, kind: "area" }]}
      />
    </div>
  );
}

type Values = Overview["series"]["overhead_p50_ms"];

function quantiles(p50: Values, p95: Values) {
  return [
    { name: "p50", values: p50, colour: 1 },
    { name: "p95", values: p95, colour: 2 },
  ] as const;
}

function ratesOf(series: Overview["series"], step: number) {
  const perSecond = (values: readonly number[]): readonly number[] =>
    values.map((value) => value / step);
  return {
    requests: perSecond(series.requests),
    client_errors: perSecond(series.client_errors),
    gateway_errors: perSecond(series.gateway_errors),
    upstream_errors: perSecond(series.upstream_errors),
    cost: series.cost.map((value) => (value / step) * 60),
  };
}

function marksOf({ marks }: Overview) {
  return marks.map(({ at, generation, returned }) => ({
    at: Date.parse(at) / 1_000,
    text: `generation ${generation}${returned === null ? "" : ", returned"}`,
  }));
}
