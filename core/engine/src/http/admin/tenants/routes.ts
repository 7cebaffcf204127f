/** Admin routes of organizations, users, customers, budgets and access groups. */

import type {
  Amounts,
  JsonObject,
  TenantChanges,
  TenantConflict,
  TenantRecords,
} from "@sluice/contract";
import {
  type AdminRoute,
  type AdminRoutes,
  type Located,
  listed,
  named,
} from "../../access/route.ts";
import type { AdminRequest } from "../../access/route.ts";
import { requestId } from "../../intake/request-id.ts";
import { type Budgeted, budgetView } from "../budget-view.ts";
import { declaredCustomers } from "./declared-customers.ts";
import { type Changes, refuseUnknown } from "../fields.ts";
import { readRecordChanges } from "../record-fields.ts";
import { tenantConflict } from "./conflict.ts";
import { changeOf } from "./change-of.ts";
import { deletionRoute } from "./delete.ts";
import { checkGrant } from "./grant.ts";
import {
  type KindNames,
  KINDS,
  type KindRoutes,
  placesOf,
  type RoutedKind,
  tableOf,
} from "./kinds.ts";
import { leaveOrganizations } from "./leave.ts";
import { cursorView, listQuery } from "./list-query.ts";
import { declaredRecord, type FoundTenant, idOf, isOf, locateTenant, namedId } from "./locate.ts";
import { warningsOf } from "./parents.ts";
import {
  changeRecords,
  declaredOf,
  notThere,
  refuseDeclared,
  type TenantRouteParts,
} from "./parts.ts";

/** The routes of all kinds of one form. */
export function tenantRoutes(parts: TenantRouteParts): AdminRoutes {
  return {
    ...kindRoutes(KINDS.organization, parts),
    ...kindRoutes(KINDS.user, parts),
    ...kindRoutes(KINDS.customer, parts),
    ...kindRoutes(KINDS.budget, parts),
    ...kindRoutes(KINDS.access_group, parts),
  };
}

function kindRoutes<Kind extends RoutedKind>(
  kind: KindRoutes<Kind>,
  parts: TenantRouteParts,
): AdminRoutes {
  const path = `/${kind.kind}` as const;
  const isBlockable = "blocked" in kind.empty;
  return {
    [`POST ${path}/new`]: creation(kind, parts),
    [`POST ${path}/update`]: update(kind, parts),
    [`POST ${path}/delete`]: deletionRoute(kind, parts),
    [`GET ${path}/info`]: info(kind, parts),
    [`GET ${path}/list`]: list(kind, parts),
    ...(isBlockable && {
      [`POST ${path}/block`]: blocking(kind, parts, true),
      [`POST ${path}/unblock`]: blocking(kind, parts, false),
    }),
  };
}

interface NewRecord<Kind extends RoutedKind> {
  readonly record: TenantRecords[Kind];
  readonly names: readonly string[];
}

function creation<Kind extends RoutedKind>(
  kind: KindRoutes<Kind>,
  parts: TenantRouteParts,
): AdminRoute {
  const action = kind.actions.create;
  return named(
    action,
    async (request): Promise<Located<NewRecord<Kind>>> => {
      const found = newRecord(kind, request, parts.clock.now());
      const missing = () => notThere(kind.noun, `/${kind.kind}/list`, kind.idField);
      return { object: kind.object(found.record), found, missing };
    },
    async (request, { record, names }) => {
      const { id } = record;
      const identity = idOf(kind, id, organizationOf(record));
      const declared = declaredOf(parts, kind.kind, (one) => isOf(one, identity));
      refuseDeclared(declared, nameOf(kind, id), kind.idField);
      await checkGrant(kind.kind, request, undefined, record);
      const outcome = await changeRecords(
        parts,
        request,
        { ...changeOf(kind, record), after: kind.view(record), fields: names },
        (records) => tableOf(records, kind.kind).insert(record),
      );
      if (outcome !== "added") throw conflict(kind, id, outcome);
      return { ...kind.view(record), ...(await warned(record, parts)) };
    },
  );
}

function newRecord<Kind extends RoutedKind>(
  kind: KindRoutes<Kind>,
  { body }: AdminRequest,
  nowMs: number,
): NewRecord<Kind> {
  const isCustomer = kind.kind === "customer";
  const others = isCustomer ? [kind.idField, "organization_id"] : [kind.idField];
  const fields = { ...kind.fields, ...kind.createFields };
  const { members, names } = readRecordChanges(body, fields, others, nowMs);
  const given = body[kind.idField] ?? (kind.makesIds ? requestId(nowMs) : null);
  const id = kind.readId(given, kind.idField, nowMs) as string;
  const identity = idOf(kind, id, body["organization_id"]);
  const record = { ...kind.empty, ...members, ...identity, createdAtMs: nowMs };
  return { record: record as unknown as TenantRecords[Kind], names };
}

function update<Kind extends RoutedKind>(
  kind: KindRoutes<Kind>,
  parts: TenantRouteParts,
): AdminRoute {
  return named(
    kind.actions.update,
    async (request) => {
      const others = idFields(kind);
      const changes = readRecordChanges(request.body, kind.fields, others, parts.clock.now());
      const located = await locateTenant(parts, kind, namedId(kind, request, false));
      const { found, object, missing } = located;
      // A user who joins an organization is then there as well.
      const joined = (changes.members["organizations"] as readonly string[] | undefined) ?? [];
      const places = [...object.places, ...joined.flatMap((id) => placesOf(id))];
      return { object: { ...object, places }, found: { ...found, changes }, missing };
    },
    async (request, found) => {
      refuseDeclared(found.declared, nameOf(kind, found.record.id), kind.idField);
      const after = { ...found.record, ...found.changes.members } as TenantRecords[Kind];
      await checkGrant(kind.kind, request, found.record, after);
      const left = await leaveOrganizations(parts, request, found.record, found.changes.members);
      const record = await change(parts, kind, request, found, found.changes);
      return { ...kind.view(record), ...(await warned(record, parts)), ...left };
    },
  );
}

function blocking<Kind extends RoutedKind>(
  kind: KindRoutes<Kind>,
  parts: TenantRouteParts,
  blocked: boolean,
): AdminRoute {
  return named(
    kind.actions.update,
    async (request) => {
      refuseUnknown(Object.keys(request.body), idFields(kind), "field");
      return locateTenant(parts, kind, namedId(kind, request, false));
    },
    async (request, found) => {
      const changes = { members: { blocked }, names: ["blocked"] };
      return kind.view(await change(parts, kind, request, found, changes));
    },
  );
}

async function change<Kind extends RoutedKind>(
  parts: TenantRouteParts,
  kind: KindRoutes<Kind>,
  request: AdminRequest,
  { id, record: present, declared }: FoundTenant<Kind>,
  { members, names }: Changes,
): Promise<TenantRecords[Kind]> {
  refuseDeclared(declared, nameOf(kind, present.id), kind.idField);
  const after = { ...present, ...members } as TenantRecords[Kind];
  await checkGrant(kind.kind, request, present, after);
  // What the file no longer declares is the store's from its first change on.
  const changes = { ...members, managedBy: "store" } as unknown as TenantChanges<Kind>;
  const audited = {
    ...changeOf(kind, present),
    before: kind.view(present),
    after: kind.view(after),
    fields: names,
  };
  const record = await changeRecords(parts, request, audited, (records) =>
    tableOf(records, kind.kind).update(id, changes),
  );
  if (record === undefined) throw notThere(kind.noun, `/${kind.kind}/list`, kind.idField);
  if (typeof record === "string") throw conflict(kind, present.id, record);
  return record;
}

function info<Kind extends RoutedKind>(
  kind: KindRoutes<Kind>,
  parts: TenantRouteParts,
): AdminRoute {
  return named(
    kind.actions.read,
    async (request) => {
      refuseUnknown(request.query.keys(), idFields(kind), "query parameter");
      return locateTenant(parts, kind, namedId(kind, request, true));
    },
    async (_, { record }) => {
      const rows = kind.rows(record);
      const budgeted = record as unknown as Budgeted;
      const spent = rows === undefined ? {} : await budgetView(budgeted, rows, parts);
      const view = kind.view(record);
      return { [kind.idField]: record.id, [`${kind.kind}_info`]: { ...view, ...spent } };
    },
  );
}

function list<Kind extends RoutedKind>(
  kind: KindRoutes<Kind>,
  parts: TenantRouteParts,
): AdminRoute {
  return listed(kind.actions.read, async ({ query }, visible) => {
    const asked = listQuery(query, kind.filters, visible);
    const page = await tableOf(parts.records, kind.kind).list(asked);
    const declared = parts.declaredTenants()[kind.kind];
    const views = page.records.map((record) => {
      const written = declared.find((one) =>
        isOf(one, idOf(kind, record.id, organizationOf(record))),
      );
      return kind.view(declaredRecord(written, record) ?? record);
    });
    const others = kind.kind === "customer" ? await declaredCustomers(asked, parts) : [];
    return { [kind.listField]: [...others, ...views], ...cursorView(page) };
  });
}

function idFields({ kind, idField }: KindNames): readonly string[] {
  return kind === "customer" ? [idField, "organization_id"] : [idField];
}

function organizationOf(record: object): unknown {
  return "organizationId" in record ? record.organizationId : undefined;
}

function nameOf({ noun }: KindNames, id: string): string {
  return `The ${noun} ${JSON.stringify(id)}`;
}

function conflict(
  { kind, noun, idField, aliasField }: KindNames,
  id: string,
  outcome: TenantConflict,
) {
  return tenantConflict(outcome, { kind: noun, id, idField, aliasField, path: `/${kind}` });
}

async function warned(record: object, parts: TenantRouteParts): Promise<JsonObject> {
  const { organizationId, budgetId } = record as {
    readonly organizationId?: string | null;
    readonly budgetId?: string | null;
  };
  if (!("rpm" in record)) return {};
  const references = { organizationId: organizationId ?? null, budgetId: budgetId ?? null };
  return (await warningsOf(record as Partial<Amounts>, references, parts)) as JsonObject;
}
