/** The deployments that fail most, and the budgets that are nearly used. */

import type { NearBudget, WorstDeployment } from "../../api/overview.ts";
import { href } from "../../app/route.ts";
import { count, share } from "../../parts/format.ts";
import { BudgetBar, Mark, When } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { healthOf, HealthMark } from "../models/health.tsx";

const DEPLOYMENTS: readonly Column<WorstDeployment>[] = [
  {
    name: "name",
    title: "Deployment",
    isHead: true,
    cell: ({ deployment }) => (
      <span class="main-cell">
        <a href={href(["models", deployment])}>{deployment}</a>
      </span>
    ),
  },
  {
    name: "health",
    title: "Health",
    cell: (row) => (
      <HealthMark
        health={healthOf(row.breaker)}
        heldUntil={row.held_until}
        isRefused={row.credential_refused}
      />
    ),
  },
  {
    name: "failed",
    title: "Failed",
    isNumber: true,
    cell: ({ success, failure }) =>
      `${count(failure)} (${share(success + failure === 0 ? 0 : failure / (success + failure))})`,
  },
  {
    name: "last",
    title: "Last failure",
    cell: ({ last }) =>
      last === null ? (
        <span class="muted">–</span>
      ) : (
        <span class="main-cell">
          <span>{last.code}</span>
          <small>
            <When at={last.at} />
          </small>
        </span>
      ),
  },
];

/** Deployments of the last quarter of an hour, the worst first. */
export function WorstDeployments({ rows }: { readonly rows: readonly WorstDeployment[] }) {
  return (
    <Panel title="Worst deployments" isFlush end={<a href={href(["models"])}>All</a>}>
      <Table
        caption="Worst deployments of the last 15 minutes"
        columns={DEPLOYMENTS}
        rows={rows}
        keyOf={({ deployment }) => deployment}
        empty={<Empty icon="check" title="No deployment failed in the last 15 minutes" />}
      />
    </Panel>
  );
}

const BUDGETS: readonly Column<NearBudget>[] = [
  {
    name: "subject",
    title: "Budget of",
    isHead: true,
    cell: (row) => {
      const place = placeOf(row);
      return place === undefined ? row.subject : <a href={place}>{row.subject}</a>;
    },
  },
  {
    name: "used",
    title: "Used",
    cell: ({ used, max_budget: max, part }) =>
      used === null ? (
        <Mark tone={part >= 1 ? "bad" : "warn"}>{share(part)}</Mark>
      ) : (
        <BudgetBar spent={used} max={max} />
      ),
  },
  { name: "resets", title: "Starts anew", cell: (row) => <When at={row.resets_at} /> },
];

/** The page of what a budget belongs to. */
function placeOf(row: NearBudget): string | undefined {
  if (row.key_id !== null) return href(["keys", row.key_id]);
  if (row.customer_id !== null)
    return href([
      "customers",
      row.customer_id,
      ...(row.organization_id === null ? [] : [row.organization_id]),
    ]);
  if (row.user_id !== null) return href(["users", row.user_id]);
  if (row.team_id !== null) return href(["teams", row.team_id]);
  if (row.organization_id !== null) return href(["organizations", row.organization_id]);
  return undefined;
}

/** Budgets of which four fifths are used. */
export function NearBudgets(props: {
  readonly rows: readonly NearBudget[];
  readonly total: number;
}) {
  const { rows, total } = props;
  return (
    <Panel
      title="Budgets nearly used"
      isFlush
      end={total > rows.length && <span class="muted">{count(total)} in all</span>}
    >
      <Table
        caption="Budgets of which four fifths are used"
        columns={BUDGETS}
        rows={rows}
        keyOf={({ subject }) => subject}
        empty={<Empty icon="check" title="No budget is above 80 %" />}
      />
    </Panel>
  );
}
