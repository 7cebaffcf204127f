/** One deployment: what happened to it, minute by minute, and what can be done with it. */

import { useMemo, useState } from "preact/hooks";
import type { DeploymentDetail, DeploymentEvent } from "../../api/deployments.ts";
import { useRead } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { href } from "../../app/route.ts";
import { Button } from "../../parts/button.tsx";
import { ChartPanel } from "../../parts/chart.tsx";
import { compact, count, duration } from "../../parts/format.ts";
import { Mark, type Tone, When } from "../../parts/marks.tsx";
import { Head } from "../../parts/page.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { type Column, TablePanel } from "../../parts/table.tsx";
import { Tile, Tiles } from "../../parts/tiles.tsx";
import { HoldDialog, ReleaseDialog, ResetDialog } from "./deployment-actions.tsx";
import { modelsText } from "./deployments.tsx";
import { HealthMark } from "./health.tsx";

/** The page. */
export function DeploymentPage({ id }: { readonly id: string }) {
  const path = `/deployments/${encodeURIComponent(id)}`;
  const { data, error, refetch } = useRead<DeploymentDetail>(path, {}, { isLive: true });
  const parent = ["Deployments", "#/models/deployments"] as const;
  if (data === undefined)
    return (
      <>
        <Head title={id} parent={parent} />
        {error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />}
      </>
    );
  return (
    <>
      <Head
        title={data.deployment}
        parent={parent}
        marks={
          <HealthMark
            health={data.health}
            until={data.ejected_until}
            heldUntil={data.held_until}
            isRefused={data.credential_refused}
            title={modelsText(data)}
          />
        }
        actions={<Actions row={data} />}
      />
      <Tiles>
        <Tile
          name="In flight"
          value={count(data.in_flight)}
          more={`${count(data.queued)} queued`}
        />
        <Tile name="First content" value={duration(data.latency_ms)} more="moving average" />
        <Tile
          name="Calls"
          value={compact(data.attempts.total)}
          more={`${compact(data.attempts.failure)} failed`}
        />
        <Tile
          name="Failed in a row"
          value={count(data.consecutive_failures)}
          more={`ejected ${count(data.ejections)} times`}
        />
      </Tiles>
      <Minutes minutes={data.minutes} />
      <TablePanel
        title="Last events"
        columns={EVENTS}
        rows={data.events}
        keyOf={({ at, kind, request_id: request }) => `${at} ${kind} ${request ?? ""}`}
        empty={<Empty icon="check" title="Nothing happened to it" />}
      />
    </>
  );
}

type Open = "reset" | "hold" | "release";

function Actions({ row }: { readonly row: DeploymentDetail }) {
  const may = useMay();
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  return (
    <>
      {may("deployment.reset") && row.health !== "healthy" && (
        <Button icon="refresh" onClick={() => setOpen("reset")}>
          Make healthy
        </Button>
      )}
      {may("deployment.hold") && (
        <Button icon="lock" onClick={() => setOpen(row.held_until === null ? "hold" : "release")}>
          {row.held_until === null ? "Hold" : "Release"}
        </Button>
      )}
      {open === "reset" && <ResetDialog id={row.deployment} onClose={close} />}
      {open === "hold" && <HoldDialog id={row.deployment} onClose={close} />}
      {open === "release" && <ReleaseDialog id={row.deployment} onClose={close} />}
    </>
  );
}

const MINUTE_MS = 60_000;
const MINUTES = 60;

/** The last hour. Minutes without a call are not in the answer. */
function Minutes({ minutes }: Pick<DeploymentDetail, "minutes">) {
  const { times, valuesOf } = useMemo(() => {
    const found = new Map(minutes.map((minute) => [Date.parse(minute.at), minute]));
    const end = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
    const starts = Array.from({ length: MINUTES }, (_, at) => end - (MINUTES - 1 - at) * MINUTE_MS);
    return {
      times: starts.map((at) => at / 1_000),
      valuesOf: (name: "success" | "failure" | "latency_ms", other: number | null) =>
        starts.map((at) => found.get(at)?.[name] ?? other),
    };
  }, [minutes]);
  if (minutes.length === 0) return null;
  return (
    <div class="columns charts">
      <ChartPanel
        title="Calls a minute"
        times={times}
        format={compact}
        isWhole
        series={[
          { name: "Good", values: valuesOf("success", 0), colour: 1 },
          { name: "Failed", values: valuesOf("failure", 0), colour: 4 },
        ]}
      />
      <ChartPanel
        title="Time to first content"
        times={times}
        format={duration}
        series={[{ name: "First content", values: valuesOf("latency_ms", null), colour: 1 }]}
      />
    </div>
  );
}

const TONES: Readonly<Record<DeploymentEvent["kind"], Tone>> = {
  failed: "bad",
  ejected: "bad",
  recovered: "good",
  reset: "good",
  held: "warn",
  released: "plain",
};

const EVENTS: readonly Column<DeploymentEvent>[] = [
  { name: "at", title: "When", isHead: true, cell: (row) => <When at={row.at} /> },
  { name: "kind", title: "What", cell: ({ kind }) => <Mark tone={TONES[kind]}>{kind}</Mark> },
  {
    name: "code",
    title: "Why",
    cell: ({ code, until }) => (
      <span class="row nowrap">
        {code ?? <span class="muted">–</span>}
        {until !== null && (
          <span class="muted">
            until <When at={until} />
          </span>
        )}
      </span>
    ),
  },
  {
    name: "model",
    title: "Model",
    cell: ({ model, operation }) =>
      model === null ? (
        <span class="muted">–</span>
      ) : (
        `${model}${operation === null ? "" : ` (${operation})`}`
      ),
  },
  {
    name: "request",
    title: "Request",
    cell: ({ request_id: id }) =>
      id === null ? (
        <span class="muted">–</span>
      ) : (
        <a href={href(["requests", id])}>
          <code>{id.slice(0, 13)}</code>
        </a>
      ),
  },
];
