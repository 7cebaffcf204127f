/** Users. */

import type { UserRow } from "../../api/records.ts";
import type { ScreenProps } from "../../app/screen-props.ts";
import { useMay } from "../../app/may.ts";
import { href } from "../../app/route.ts";
import { limitColumns, OriginMark, StateMark, stateOf } from "../../records/limit-views.tsx";
import type { Names, TenantKind } from "../../records/tenants/kind.ts";
import { KeyPanel } from "../../records/tenants/key-panel.tsx";
import { TenantScreen } from "../../records/tenants/tenant-screen.tsx";
import { RolePanel, rolesText, userPlace } from "./role-panel.tsx";
import { USER_SPECS } from "./user-specs.ts";

const USERS: TenantKind<UserRow> = {
  kind: "user",
  plural: "users",
  title: "Users",
  lead: "People and service accounts. A user's limits hold for all keys of the user; roles say what the user may administer.",
  icon: "user",
  search: "Search by id or name",
  nameOf: (row) => row.user_alias ?? row.user_id,
  pathOf: (row) => [row.user_id],
  namesOf: ([id = ""]) => ({ user_id: id }),
  columns: [
    {
      name: "name",
      title: "User",
      isHead: true,
      cell: (row) => (
        <span class="main-cell">
          <a href={href(["users", row.user_id])}>{row.user_alias ?? row.user_id}</a>
          {row.user_alias != null && <small>{row.user_id}</small>}
        </span>
      ),
      text: (row) => row.user_id,
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
    { name: "kind", title: "Kind", cell: (row) => row.kind, text: (row) => row.kind },
    {
      name: "roles",
      title: "Roles",
      cell: ({ roles }) => rolesText(roles) || <span class="muted">–</span>,
      text: ({ roles }) => rolesText(roles),
    },
    {
      name: "organizations",
      title: "Organizations",
      cell: (row) => row.organizations.join(", ") || <span class="muted">–</span>,
      text: (row) => row.organizations.join(" "),
    },
    ...limitColumns<UserRow>(),
  ],
  specs: USER_SPECS,
  facts: (row) => [
    ["Id", <code>{row.user_id}</code>],
    ["E-mail", row.user_email ?? undefined],
    ["Kind", row.kind],
    ["Organizations", row.organizations.join(", ") || undefined],
  ],
  filters: ["organization_id", "team_id"],
  may: {
    create: "user.create",
    update: "user.update",
    block: "user.update",
    unblock: "user.update",
    delete: "user.delete",
  },
  placeOf: userPlace,
  deletion: {
    text: "The user leaves all teams and organizations. The id is not used again. The spend stays in the reports.",
    keys: [
      ["block", "Are blocked"],
      ["delete", "Are deleted"],
    ],
  },
  Panels: UserPanels,
};

function UserPanels({ row, names }: { readonly row: UserRow; readonly names: Names }) {
  const may = useMay();
  return (
    <>
      <RolePanel row={row} />
      <KeyPanel filter={names} mayCreate={may("key.create")} />
    </>
  );
}

/** The screen. */
export default function UsersScreen({ path }: ScreenProps) {
  return <TenantScreen kind={USERS} path={path} />;
}
