/** The state of every target in use, and the reset of one. */

import { useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import type { Deployment } from "../../api/deployments.ts";
import { useRead, useRefresh } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { AsCommand } from "../../parts/as-command.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { compact, count, duration, fromNow, share } from "../../parts/format.ts";
import { Mark, Notice } from "../../parts/marks.tsx";
import { Head } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { toast } from "../../parts/toasts.tsx";
import { useSend } from "../../records/use-send.ts";

const TONES = { healthy: "good", recovering: "warn", ejected: "bad" } as const;

/** The screen. */
export function Deployments() {
  const isAllowed = useMay()("deployment.reset");
  const { data, error, refetch } = useRead<{ readonly deployments: readonly Deployment[] }>(
    "/deployments",
    {},
    { isLive: true },
  );
  const [reset, setReset] = useState<Deployment>();
  const rows = data?.deployments;
  return (
    <>
      <Head
        title="Models"
        lead="Each target that a pipeline may call, as the balancer sees it: health, load and latency."
      />
      <section class="panel" aria-label="Deployments">
        <Table
          caption="Deployments"
          columns={columnsOf(isAllowed ? setReset : undefined)}
          rows={rows}
          keyOf={(row) => row.deployment}
          error={error}
          onRetry={() => void refetch()}
          empty={
            <Empty icon="model" title="No deployment is balanced">
              No pipeline has the step <code>balance</code>, or no model has a target.
            </Empty>
          }
        />
      </section>
      {reset !== undefined && <Reset row={reset} onClose={() => setReset(undefined)} />}
    </>
  );
}

function columnsOf(
  onReset: ((row: Deployment) => void) | undefined,
): readonly Column<Deployment>[] {
  return [
    {
      name: "name",
      title: "Deployment",
      isHead: true,
      cell: (row) => (
        <span class="main-cell">
          <strong>{row.model}</strong>
          <small>{row.provider}</small>
        </span>
      ),
    },
    { name: "health", title: "Health", cell: (row) => <Health row={row} /> },
    { name: "flight", title: "In flight", isNumber: true, cell: (row) => count(row.in_flight) },
    { name: "queue", title: "Queued", isNumber: true, cell: (row) => count(row.queued) },
    {
      name: "latency",
      title: "First content",
      isNumber: true,
      cell: (row) => duration(row.latency_ms),
    },
    {
      name: "total",
      title: "Calls",
      isNumber: true,
      cell: ({ attempts }) => compact(attempts.total),
    },
    {
      name: "failed",
      title: "Failed",
      isNumber: true,
      cell: ({ attempts: { failure, success } }) =>
        `${compact(failure)} (${share(failure + success === 0 ? 0 : failure / (failure + success))})`,
    },
    {
      name: "tokens",
      title: "Tokens a minute",
      isNumber: true,
      cell: ({ tokens }) =>
        tokens === null ? (
          <span class="muted">no limit</span>
        ) : (
          `${compact(tokens.spent + tokens.reserved)} of ${compact(tokens.limit)}`
        ),
    },
    {
      name: "actions",
      title: "",
      isNumber: true,
      cell: (row) =>
        onReset !== undefined &&
        row.health !== "healthy" && <Button onClick={() => onReset(row)}>Make healthy</Button>,
    },
  ];
}

function Health({ row }: { readonly row: Deployment }) {
  const { health, ejected_until: until, ejected_models: models } = row;
  const others = models.map(({ model, operation }) => `${model} (${operation})`).join(", ");
  return (
    <span class="row nowrap">
      <Mark tone={TONES[health]} {...(others !== "" && { title: others })}>
        {health}
      </Mark>
      {row.credential_refused && <Mark tone="bad">credential refused</Mark>}
      {until !== null && <span class="muted">tried again {fromNow(until)}</span>}
    </span>
  );
}

function Reset({ row, onClose }: { readonly row: Deployment; readonly onClose: () => void }) {
  const refresh = useRefresh();
  const sending = useSend();
  const path = `/deployments/${encodeURIComponent(row.deployment)}/reset`;
  const confirm = async (): Promise<void> => {
    const answer = await sending.run(() => post<object>(path));
    if (answer === undefined) return;
    toast(`${row.deployment} is healthy again.`);
    refresh("/deployments");
    onClose();
  };
  return (
    <Confirm
      title={`Make ${row.deployment} healthy?`}
      action="Make healthy"
      isBusy={sending.isBusy}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      {sending.failure !== undefined && (
        <Notice tone="bad" isLoud>
          {sending.failure.message}
        </Notice>
      )}
      <p>
        All workers call it again at once, with all its models and its credential. If it still
        fails, it is ejected again.
      </p>
      <AsCommand doing={{ path, sluice: ["deployments", "reset", row.deployment] }} />
    </Confirm>
  );
}
