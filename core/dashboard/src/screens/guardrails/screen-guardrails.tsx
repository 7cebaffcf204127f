/** Guardrails: what they did, and what those in shadow would have done. */

import { useMemo } from "preact/hooks";
import type { GuardrailReport } from "../../api/guardrails.ts";
import { useRead } from "../../app/live.ts";
import { useFilters } from "../../app/route.ts";
import type { ScreenProps } from "../../app/screen-props.ts";
import { ChartPanel } from "../../parts/chart.tsx";
import { Select } from "../../parts/field.tsx";
import { compact } from "../../parts/format.ts";
import { Head } from "../../parts/page.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { RoutePanel } from "./route-panel.tsx";
import { ShadowSteps } from "./shadow-steps.tsx";

const EVERY_MS = 30_000;

const WINDOWS = [
  ["1d", "Today"],
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["90d", "90 days"],
] as const;

/** The screen. */
export default function GuardrailsScreen(_props: ScreenProps) {
  const [filters, setFilters] = useFilters(["window"] as const);
  const window = filters.window === "" ? "7d" : filters.window;
  const { data, error, refetch } = useRead<GuardrailReport>(
    "/guardrails/report",
    { window },
    { isLive: true, everyMs: EVERY_MS },
  );
  return (
    <>
      <Head
        title="Guardrails"
        lead="What they did by route, and what those in shadow would have done. Days are UTC. No text is kept."
      />
      <div class="filters">
        <Select
          label="Period"
          value={window}
          choices={WINDOWS}
          onInput={(value) => setFilters({ window: value })}
        />
      </div>
      {data === undefined ? (
        error ? (
          <Failure error={error} onRetry={() => void refetch()} />
        ) : (
          <Loading />
        )
      ) : (
        <Report report={data} />
      )}
    </>
  );
}

function Report({ report }: { readonly report: GuardrailReport }) {
  const { routes, guardrails, steps } = report;
  if (routes.length === 0 && guardrails.length === 0 && steps.length === 0)
    return (
      <section class="panel" aria-label="No guardrails">
        <Empty icon="guardrail" title="No guardrail checks requests">
          <code>guardrails:</code> in gateway.yaml names them, and the step <code>guardrails</code>{" "}
          of a pipeline runs them. <code>mode: shadow</code> lets one watch first.
        </Empty>
      </section>
    );
  return (
    <>
      <Days days={report.days} />
      {routes.map((route) => (
        <RoutePanel key={route.route} route={route} guardrails={guardrails} />
      ))}
      {routes.length === 0 && (
        <section class="panel" aria-label="No request">
          <Empty icon="guardrail" title="No request was checked in this period" />
        </section>
      )}
      {steps.length > 0 && <ShadowSteps steps={steps} />}
    </>
  );
}

function Days({ days }: Pick<GuardrailReport, "days">) {
  const { times, valuesOf } = useMemo(
    () => ({
      times: days.map(({ date }) => Date.parse(date) / 1_000),
      valuesOf: (name: Exclude<keyof (typeof days)[number], "date">) =>
        days.map((day) => day[name]),
    }),
    [days],
  );
  if (days.length < 2) return null;
  return (
    <ChartPanel
      title="Requests a day"
      times={times}
      format={compact}
      isWhole
      isDaily
      series={[
        { name: "Blocked", values: valuesOf("blocked"), colour: 4, kind: "bars" },
        { name: "Would have blocked", values: valuesOf("would_have_blocked"), colour: 2 },
        { name: "Edited", values: valuesOf("edited"), colour: 1 },
      ]}
    />
  );
}
