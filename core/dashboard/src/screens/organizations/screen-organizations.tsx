/** Organizations: the border between tenants. */

import type { OrganizationRow } from "../../api/records.ts";
import type { ScreenProps } from "../../app/screen-props.ts";
import { href } from "../../app/route.ts";
import type { FieldSpec } from "../../records/field-spec.ts";
import { limitColumns, OriginMark, StateMark, stateOf } from "../../records/limit-views.tsx";
import {
  BUDGET_SPECS,
  LIFE_SPECS,
  MODEL_SPECS,
  MORE_SPECS,
  TRAFFIC_SPECS,
} from "../../records/specs.ts";
import type { TenantKind } from "../../records/tenants/kind.ts";
import { TenantScreen } from "../../records/tenants/tenant-screen.tsx";
import { OrganizationTeams } from "./organization-teams.tsx";

const SPECS: readonly FieldSpec[] = [
  { name: "organization_alias", label: "Name", group: "Name", kind: "text", option: "--alias" },
  {
    name: "organization_id",
    label: "Id",
    hint: "It stays. Empty: the gateway makes one.",
    group: "Name",
    kind: "text",
    isFixed: true,
    isPositional: true,
  },
  ...MODEL_SPECS,
  ...BUDGET_SPECS,
  ...TRAFFIC_SPECS,
  ...LIFE_SPECS,
  {
    name: "self_service",
    label: "What members may make for themselves",
    hint: 'JSON: {"max_keys": 5, "upper_bounds": {"max_budget": 20}}',
    group: "More",
    kind: "json",
    option: "--self-service",
  },
  ...MORE_SPECS,
];

const ORGANIZATIONS: TenantKind<OrganizationRow> = {
  kind: "organization",
  plural: "organizations",
  title: "Organizations",
  lead: "The border between tenants: records of two organizations cannot refer to each other. Its limits hold for all its teams, users and keys.",
  icon: "organization",
  search: "Search by id or name",
  nameOf: (row) => row.organization_alias ?? row.organization_id,
  pathOf: (row) => [row.organization_id],
  namesOf: ([id = ""]) => ({ organization_id: id }),
  columns: [
    {
      name: "name",
      title: "Organization",
      isHead: true,
      cell: (row) => (
        <span class="main-cell">
          <a href={href(["organizations", row.organization_id])}>
            {row.organization_alias ?? row.organization_id}
          </a>
          {row.organization_alias != null && <small>{row.organization_id}</small>}
        </span>
      ),
      text: (row) => row.organization_id,
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
    ...limitColumns<OrganizationRow>(),
  ],
  specs: SPECS,
  facts: (row) => [["Id", <code>{row.organization_id}</code>]],
  filters: [],
  may: {
    create: "organization.create",
    update: "organization.update",
    block: "organization.update",
    unblock: "organization.update",
    delete: "organization.delete",
  },
  placeOf: (row) => ({
    organizations: [row.organization_id],
    self: `organization:${row.organization_id}`,
  }),
  deletion: {
    text: "Only an organization without teams, keys, budgets and access groups is deleted. Its customers go with it.",
  },
  Panels: OrganizationTeams,
};

/** The screen. */
export default function OrganizationsScreen({ path }: ScreenProps) {
  return <TenantScreen kind={ORGANIZATIONS} path={path} />;
}
