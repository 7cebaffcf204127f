/** Teams. */

import type { TeamRow } from "../../api/records.ts";
import type { ScreenProps } from "../../app/screen-props.ts";
import { useMayOn } from "../../app/may.ts";
import { href } from "../../app/route.ts";
import {
  IdLink,
  limitColumns,
  OriginMark,
  StateMark,
  stateOf,
} from "../../records/limit-views.tsx";
import type { Names, TenantKind } from "../../records/tenants/kind.ts";
import { KeyPanel, useKeyPage } from "../../records/tenants/key-panel.tsx";
import { TenantScreen } from "../../records/tenants/tenant-screen.tsx";
import { MemberPanel } from "./member-panel.tsx";
import { TEAM_SPECS } from "./team-specs.ts";

const TEAMS: TenantKind<TeamRow> = {
  kind: "team",
  plural: "teams",
  title: "Teams",
  lead: "A team's limits hold for all its keys together. A key of a team may use what both lists of models allow.",
  icon: "team",
  search: "Search by id or name",
  nameOf: (row) => row.team_alias ?? row.team_id,
  pathOf: (row) => [row.team_id],
  namesOf: ([id = ""]) => ({ team_id: id }),
  columns: [
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
      text: (row) => row.team_id,
    },
    {
      name: "state",
      title: "State",
      cell: (row) => (
        <span class="row nowrap">
          <StateMark state={stateOf(row)} spend={row.spend} max={row.max_budget} />
          <OriginMark by={row.managed_by} />
        </span>
      ),
      text: (row) => (row.blocked ? "blocked" : "active"),
    },
    {
      name: "organization",
      title: "Organization",
      cell: (row) => <IdLink screen="organizations" id={row.organization_id} />,
      text: (row) => row.organization_id,
    },
    ...limitColumns<TeamRow>(),
  ],
  specs: TEAM_SPECS,
  facts: (row) => [
    ["Id", <code>{row.team_id}</code>],
    ["Organization", <IdLink screen="organizations" id={row.organization_id} />],
  ],
  filters: ["organization_id", "user_id"],
  may: {
    create: "team.create",
    update: "team.update",
    block: "team.block",
    unblock: "team.unblock",
    delete: "team.delete",
  },
  placeOf: (row) => ({
    organizations: [row.organization_id],
    team: row.team_id,
    self: `team:${row.team_id}`,
  }),
  deletion: {
    text: "A deleted team does not come back, and its id is not used again. Its spend stays in the reports.",
    keys: [
      ["block", "Are blocked"],
      ["delete", "Are deleted"],
      ["move", "Move to another team"],
    ],
  },
  Panels: TeamPanels,
};

function TeamPanels({ row, names }: { readonly row: TeamRow; readonly names: Names }) {
  const may = useMayOn(TEAMS.placeOf(row));
  // The height of the keys is unknown before their answer: what stands below them would move.
  const { isLoading } = useKeyPage(names);
  return (
    <>
      <KeyPanel filter={names} mayCreate={may("key.create")} />
      <div hidden={isLoading}>
        <MemberPanel teamId={row.team_id} mayWrite={may("member.write")} />
      </div>
    </>
  );
}

/** The screen. */
export default function TeamsScreen({ path }: ScreenProps) {
  return <TenantScreen kind={TEAMS} path={path} />;
}
