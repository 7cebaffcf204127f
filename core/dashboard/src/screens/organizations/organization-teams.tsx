/** The teams of an organization. */

import type { OrganizationRow, TeamRow } from "../../api/records.ts";
import { useRead } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { href } from "../../app/route.ts";
import { BudgetBar } from "../../parts/marks.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, TablePanel } from "../../parts/table.tsx";
import { Models, StateMark, stateOf } from "../../records/limit-views.tsx";

const SHOWN = 50;

const COLUMNS: readonly Column<TeamRow>[] = [
  {
    name: "name",
    title: "Team",
    isHead: true,
    cell: (row) => (
      <span class="main-cell">
        <a href={href(["teams", row.team_id])}>{row.team_alias ?? row.team_id}</a>
        {row.team_alias != null && <small>{row.team_id}</small>}
      </span>
    ),
  },
  {
    name: "state",
    title: "State",
    cell: (row) => <StateMark state={stateOf(row)} spend={row.spend} max={row.max_budget} />,
  },
  { name: "models", title: "Models", cell: ({ models }) => <Models models={models} /> },
  {
    name: "budget",
    title: "Budget",
    cell: (row) => <BudgetBar spent={row.spend} max={row.max_budget} soft={row.soft_budget} />,
  },
];

/** The panel, with the ways to the organization's users and customers. */
export function OrganizationTeams({ row }: { readonly row: OrganizationRow }) {
  const isAllowed = useMay()("team.read");
  const filter = { organization_id: row.organization_id };
  const { data, error, refetch } = useRead<{ readonly teams: readonly TeamRow[] }>(
    "/team/list",
    { ...filter, limit: SHOWN },
    { enabled: isAllowed },
  );
  if (!isAllowed) return null;
  const links = (
    <>
      <a href={href(["users"], filter)}>Users</a>
      <a href={href(["customers"], filter)}>Customers</a>
      <a href={href(["teams"], filter)}>All teams</a>
    </>
  );
  return (
    <TablePanel
      title="Teams"
      end={links}
      columns={COLUMNS}
      rows={data?.teams}
      keyOf={(team) => team.team_id}
      error={error}
      onRetry={() => void refetch()}
      empty={<Empty icon="team" title="No teams yet" />}
    />
  );
}
