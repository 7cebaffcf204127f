/** The kinds of tenants that have routes of one form, and how each is read, found and shown. */

import {
  EMPTY_AMOUNTS,
  EMPTY_LIMITS,
  type JsonObject,
  type JsonValue,
  type LedgerFilter,
  type PolicyAction,
  type RoleGrant,
  ROLES,
  type TenantId,
  type TenantKind,
  type TenantRecords,
  type TenantStore,
  type TenantTable,
  type UserRecord,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import type { ObjectPlace, PolicyObject } from "../../access/may.ts";
import type { Field, Fields } from "../fields.ts";
import { invalid, readNames, readText } from "../fields.ts";
import {
  BLOCK_FIELDS,
  PERIOD_FIELDS,
  readId,
  readWord,
  SELF_SERVICE_FIELD,
} from "../record-fields.ts";
import { amountsView, limitsView, perModelView, selfServiceView, timeOf } from "../record-view.ts";

/** Kinds whose routes have one form; members of teams have routes of their own. */
export type RoutedKind = Exclude<TenantKind, "membership">;

/** The names of a kind in paths, fields and messages. */
export interface KindNames {
  readonly kind: RoutedKind;
  /** In messages: `access group`. */
  readonly noun: string;
  readonly idField: string;
  /** The field of the list of ids in a deletion, and of the records in a list. */
  readonly idsField: string;
  readonly listField: string;
  readonly aliasField: string;
}

/** How records of a kind are read, found and shown. */
export interface KindRoutes<Kind extends RoutedKind> extends KindNames {
  readonly kind: Kind;
  readonly fields: Fields;
  /** Fields that only a new record has. */
  readonly createFields: Fields;
  /** Whether the gateway makes an id where none is given. */
  readonly makesIds: boolean;
  readonly readId: Field["read"];
  readonly actions: Readonly<Record<"create" | "update" | "delete" | "read", PolicyAction>>;
  readonly empty: Omit<TenantRecords[Kind], keyof TenantId<Kind> | "createdAtMs">;
  readonly view: (record: TenantRecords[Kind]) => JsonObject;
  /** Where a record is, as far as the record says it itself. */
  readonly object: (record: TenantRecords[Kind]) => PolicyObject;
  /** Rows of its spend; `undefined`: the ledger cannot tell them from others. */
  readonly rows: (record: TenantRecords[Kind]) => LedgerFilter | undefined;
  /** Filters of its list besides `search`. */
  readonly filters: readonly ("organization_id" | "user_id" | "team_id" | "budget_id")[];
}

/** The stored records of a kind. */
export function tableOf<Kind extends RoutedKind>(
  { tenants }: { readonly tenants: TenantStore },
  kind: Kind,
): TenantTable<Kind> {
  return tenants[kind] as unknown as TenantTable<Kind>;
}

/** The place of an organization; none without one. */
export function placesOf(organizationId: string | null): readonly ObjectPlace[] {
  return organizationId === null || organizationId === "" ? [] : [{ organizationId, teamId: null }];
}

const ALL_FILTERS = ["organization_id", "user_id", "team_id", "budget_id"] as const;

const ORGANIZATION: KindRoutes<"organization"> = {
  kind: "organization",
  noun: "organization",
  idField: "organization_id",
  idsField: "organization_ids",
  listField: "organizations",
  aliasField: "organization_alias",
  fields: {
    organization_alias: { member: "alias", read: readText, cleared: null },
    ...BLOCK_FIELDS,
    ...SELF_SERVICE_FIELD,
  },
  createFields: {},
  makesIds: true,
  readId,
  actions: {
    create: "organization.create",
    update: "organization.update",
    delete: "organization.delete",
    read: "organization.read",
  },
  empty: { ...EMPTY_LIMITS, selfService: null },
  view: (record) => ({
    organization_id: record.id,
    organization_alias: record.alias,
    ...originView(record),
    ...limitsView(record),
    self_service: selfServiceView(record.selfService),
    created_at: timeOf(record.createdAtMs),
  }),
  object: ({ id }) => ({ places: placesOf(id), self: { kind: "organization", id } }),
  rows: ({ id }) => ({ organizationId: id }),
  filters: ALL_FILTERS,
};

const EMPTY_USER = { kind: "person", email: null, organizations: [], roles: [] } as const;

const USER: KindRoutes<"user"> = {
  kind: "user",
  noun: "user",
  idField: "user_id",
  idsField: "user_ids",
  listField: "users",
  aliasField: "user_alias",
  fields: {
    user_alias: { member: "alias", read: readText, cleared: null },
    user_email: { member: "email", read: readEmail, cleared: null },
    kind: { member: "kind", read: readWord(["person", "service"]), cleared: "person" },
    organizations: { member: "organizations", read: readIds, cleared: [] },
    roles: { member: "roles", read: readRoles, cleared: [] },
    ...BLOCK_FIELDS,
  },
  createFields: {},
  makesIds: true,
  readId,
  actions: {
    create: "user.create",
    update: "user.update",
    delete: "user.delete",
    read: "user.read",
  },
  empty: { ...EMPTY_LIMITS, ...EMPTY_USER },
  view: (record) => ({
    user_id: record.id,
    user_alias: record.alias,
    user_email: record.email,
    kind: record.kind,
    organizations: record.organizations,
    roles: record.roles.map(roleView),
    ...originView(record),
    ...limitsView(record),
    created_at: timeOf(record.createdAtMs),
  }),
  object: ({ id, organizations }) => ({
    places: organizations.flatMap((organization) => placesOf(organization)),
    userId: id,
  }),
  rows: ({ id }) => ({ userId: id }),
  filters: ALL_FILTERS,
};

const CUSTOMER: KindRoutes<"customer"> = {
  kind: "customer",
  noun: "customer",
  idField: "customer_id",
  idsField: "customer_ids",
  listField: "customers",
  aliasField: "customer_alias",
  fields: {
    customer_alias: { member: "alias", read: readText, cleared: null },
    ...BLOCK_FIELDS,
  },
  createFields: {},
  makesIds: false,
  readId: readCustomerId,
  actions: {
    create: "customer.write",
    update: "customer.write",
    delete: "customer.write",
    read: "customer.read",
  },
  empty: EMPTY_LIMITS,
  view: (record) => ({
    customer_id: record.id,
    organization_id: record.organizationId === "" ? null : record.organizationId,
    customer_alias: record.alias,
    ...originView(record),
    ...limitsView(record),
    created_at: timeOf(record.createdAtMs),
  }),
  object: ({ organizationId }) => ({ places: placesOf(organizationId) }),
  rows: ({ id, organizationId }) =>
    organizationId === "" ? undefined : { endUser: id, organizationId },
  filters: ["organization_id", "budget_id"],
};

const OWNER_FIELD: Fields = {
  organization_id: { member: "organizationId", read: readId, cleared: null },
};

const BUDGET: KindRoutes<"budget"> = {
  kind: "budget",
  noun: "budget",
  idField: "budget_id",
  idsField: "budget_ids",
  listField: "budgets",
  aliasField: "budget_id",
  fields: PERIOD_FIELDS,
  createFields: OWNER_FIELD,
  makesIds: false,
  readId,
  actions: {
    create: "budget.write",
    update: "budget.write",
    delete: "budget.write",
    read: "budget.read",
  },
  empty: { ...EMPTY_AMOUNTS, organizationId: null, budgetAnchor: "calendar", perModel: {} },
  view: (record) => ({
    budget_id: record.id,
    organization_id: record.organizationId,
    ...originView(record),
    ...amountsView(record),
    budget_anchor: record.budgetAnchor,
    per_model: perModelView(record.perModel),
    created_at: timeOf(record.createdAtMs),
  }),
  object: ({ organizationId }) => ({ places: placesOf(organizationId) }),
  rows: () => undefined,
  filters: ["organization_id"],
};

const ACCESS_GROUP: KindRoutes<"access_group"> = {
  kind: "access_group",
  noun: "access group",
  idField: "access_group",
  idsField: "access_groups",
  listField: "access_groups",
  aliasField: "access_group",
  fields: { models: { member: "models", read: readNames, cleared: [] } },
  createFields: OWNER_FIELD,
  makesIds: false,
  readId,
  actions: {
    create: "access_group.write",
    update: "access_group.write",
    delete: "access_group.write",
    read: "access_group.read",
  },
  empty: { organizationId: null, models: [] },
  view: (record) => ({
    access_group: record.id,
    organization_id: record.organizationId,
    ...originView(record),
    models: record.models,
    created_at: timeOf(record.createdAtMs),
  }),
  object: ({ organizationId }) => ({ places: placesOf(organizationId) }),
  rows: () => undefined,
  filters: ["organization_id"],
};

/** The kinds with routes of one form. */
export const KINDS: { readonly [Kind in RoutedKind]: KindRoutes<Kind> } = {
  organization: ORGANIZATION,
  user: USER,
  customer: CUSTOMER,
  budget: BUDGET,
  access_group: ACCESS_GROUP,
};

/** Who manages a record. */
export function originView({ managedBy = "store" }: { readonly managedBy?: string }): JsonObject {
  return { managed_by: managedBy };
}

function roleView({ role, place }: UserRecord["roles"][number]): JsonObject {
  if (place.kind === "whole") return { role, at: "whole" };
  return { role, at: place.kind, [`${place.kind}_id`]: place.id };
}

const MAX_ROLES = 1_000;
const PLACES: Readonly<Record<string, string | undefined>> = {
  whole: undefined,
  organization: "organization_id",
  team: "team_id",
};

/** Roles in the form of the view: `{ role, at, organization_id }`. */
function readRoles(value: JsonValue, name: string): readonly RoleGrant[] {
  if (!Array.isArray(value) || value.length > MAX_ROLES)
    throw invalid(name, `The field ${name} must be an array of at most ${MAX_ROLES} roles.`);
  return (value as readonly JsonValue[]).map((grant) => readRole(grant, name));
}

function readRole(value: JsonValue, name: string): RoleGrant {
  const { role, at, ...others } = isObject(value) ? value : {};
  const known = ROLES.find((one) => one === role);
  const field = typeof at === "string" && Object.hasOwn(PLACES, at) ? PLACES[at] : null;
  const isPlain = Object.keys(others).every((other) => other === field);
  if (known === undefined || field === null || !isPlain)
    throw invalid(
      name,
      `The field ${name} must hold roles such as { "role": "admin", "at": "organization", "organization_id": "acme" }: role is one of ${ROLES.join(", ")}, at is whole, organization or team.`,
    );
  if (field === undefined) return { role: known, place: { kind: "whole" } };
  const id = readId(others[field] ?? null, `${name}.${field}`);
  return { role: known, place: { kind: at as "organization" | "team", id } };
}

const MAX_CUSTOMER_BYTES = 256;

function readCustomerId(value: JsonValue, name: string): string {
  const id = readText(value, name);
  if (Buffer.byteLength(id) <= MAX_CUSTOMER_BYTES) return id;
  throw invalid(name, `The field ${name} must have ${MAX_CUSTOMER_BYTES} bytes at most.`);
}

function readEmail(value: unknown, name: string): string {
  const text = typeof value === "string" ? readText(value, name).trim() : "";
  if (/^[^\s@]+@[^\s@]+$/u.test(text)) return text;
  throw invalid(name, `The field ${name} must be an e-mail address.`);
}

function readIds(value: Parameters<Field["read"]>[0], name: string): readonly string[] {
  return [...new Set(readNames(value, name).map((id) => readId(id, name)))];
}
