/** The list of every target in use. */

import type { Deployment, DeploymentList } from "../../api/deployments.ts";
import { useRead } from "../../app/live.ts";
import { href } from "../../app/route.ts";
import { compact, count, duration, share } from "../../parts/format.ts";
import { Empty } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { HealthMark } from "./health.tsx";

const COLUMNS: readonly Column<Deployment>[] = [
  {
    name: "name",
    title: "Deployment",
    isHead: true,
    cell: (row) => (
      <span class="main-cell">
        <a href={href(["models", row.deployment])}>{row.model}</a>
        <small>{row.provider}</small>
      </span>
    ),
  },
  {
    name: "health",
    title: "Health",
    cell: (row) => (
      <HealthMark
        health={row.health}
        until={row.ejected_until}
        heldUntil={row.held_until}
        isRefused={row.credential_refused}
        title={modelsText(row)}
      />
    ),
  },
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
];

/** The list. */
export function Deployments() {
  const { data, error, refetch } = useRead<DeploymentList>("/deployments", {}, { isLive: true });
  return (
    <section class="panel" aria-label="Deployments">
      <Table
        caption="Deployments"
        columns={COLUMNS}
        rows={data?.deployments}
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
  );
}

/** Models that are not healthy where others of the deployment are. */
export function modelsText({ ejected_models: models }: Deployment): string | undefined {
  if (models.length === 0) return undefined;
  return models.map(({ model, operation }) => `${model} (${operation})`).join(", ");
}
