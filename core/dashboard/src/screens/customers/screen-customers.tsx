/** Customers: whom requests are made for. */

import type { CustomerRow } from "../../api/records.ts";
import type { ScreenProps } from "../../app/screen-props.ts";
import { href } from "../../app/route.ts";
import type { FieldSpec } from "../../records/field-spec.ts";
import {
  IdLink,
  limitColumns,
  OriginMark,
  StateMark,
  stateOf,
} from "../../records/limit-views.tsx";
import { organizationOptions } from "../../records/options.ts";
import {
  BUDGET_SPECS,
  LIFE_SPECS,
  MODEL_SPECS,
  MORE_SPECS,
  TRAFFIC_SPECS,
} from "../../records/specs.ts";
import type { TenantKind } from "../../records/tenants/kind.ts";
import { TenantScreen } from "../../records/tenants/tenant-screen.tsx";
import { CustomerSpend } from "./customer-spend.tsx";

const SPECS: readonly FieldSpec[] = [
  {
    name: "customer_id",
    label: "Id",
    hint: "As requests carry it, in the field user.",
    group: "Name",
    kind: "text",
    isFixed: true,
    isPositional: true,
  },
  { name: "customer_alias", label: "Name", group: "Name", kind: "text", option: "--alias" },
  {
    name: "organization_id",
    label: "Organization",
    hint: "Two organizations may each have a customer of one id.",
    group: "Owner",
    kind: "ref",
    optionsFor: organizationOptions,
    takesOthers: false,
    isFixed: true,
    option: "--organization",
  },
  ...MODEL_SPECS,
  ...BUDGET_SPECS,
  ...TRAFFIC_SPECS,
  ...LIFE_SPECS,
  ...MORE_SPECS,
];

/** An id and its organization; the organization may be none. */
function pathOf(row: CustomerRow): readonly string[] {
  return row.organization_id === null ? [row.customer_id] : [row.customer_id, row.organization_id];
}

const CUSTOMERS: TenantKind<CustomerRow> = {
  kind: "customer",
  plural: "customers",
  title: "Customers",
  lead: "The people and companies that requests are made for. A customer's limits hold whichever key names it.",
  icon: "customer",
  search: "Search by id",
  nameOf: (row) => row.customer_alias ?? row.customer_id,
  pathOf,
  namesOf: ([id = "", organization]) => ({
    customer_id: id,
    ...(organization !== undefined && { organization_id: organization }),
  }),
  columns: [
    {
      name: "name",
      title: "Customer",
      isHead: true,
      cell: (row) => (
        <span class="main-cell">
          <a href={href(["customers", ...pathOf(row)])}>{row.customer_alias ?? row.customer_id}</a>
          {row.customer_alias !== null && <small>{row.customer_id}</small>}
        </span>
      ),
      text: (row) => row.customer_id,
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
    ...limitColumns<CustomerRow>(),
  ],
  specs: SPECS,
  facts: (row) => [
    ["Id", <code>{row.customer_id}</code>],
    ["Organization", <IdLink screen="organizations" id={row.organization_id} />],
  ],
  filters: ["organization_id"],
  may: {
    create: "customer.write",
    update: "customer.write",
    block: "customer.write",
    unblock: "customer.write",
    delete: "customer.write",
  },
  placeOf: (row) => ({ organizations: [row.organization_id] }),
  deletion: {
    text: "The customer's own limits go. A later request that names the id is one of a new customer.",
  },
  Panels: CustomerSpend,
};

/** The screen. */
export default function CustomersScreen({ path }: ScreenProps) {
  return <TenantScreen kind={CUSTOMERS} path={path} />;
}
