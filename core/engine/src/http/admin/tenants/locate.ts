/** Finds tenants, as routes and the policy see them. */

import type { MembershipRecord, TenantId, TenantQuery, TenantRecords } from "@sluice/contract";
import { isDeepStrictEqual } from "node:util";
import type { DeclaredTenant } from "../../../config/tenants/declared-tenants.ts";
import type { ObjectPlace, PolicyObject } from "../../access/may.ts";
import type { AdminRequest, Located } from "../../access/route.ts";
import { requiredText } from "../fields.ts";
import { type KindRoutes, type RoutedKind, tableOf } from "./kinds.ts";
import { readId } from "../record-fields.ts";
import { declaredOf, notThere, type TenantRouteParts } from "./parts.ts";

/** A record of the store, of the files, or of both. */
export interface FoundTenant<Kind extends RoutedKind> {
  readonly id: TenantId<Kind>;
  /** The declared record wins. */
  readonly record: TenantRecords[Kind];
  readonly declared: DeclaredTenant<Kind> | undefined;
}

/** The identity that a body or a query names. Throws `invalid_field` without one. */
export function namedId<Kind extends RoutedKind>(
  kind: KindRoutes<Kind>,
  { body, query }: Pick<AdminRequest, "body" | "query">,
  isQuery: boolean,
): TenantId<Kind> {
  const given = isQuery ? Object.fromEntries(query) : body;
  const text = requiredText(given, kind.idField, `the id of the ${kind.noun}`);
  return idOf(kind, text, given["organization_id"]);
}

/** An identity. A customer belongs to an organization, or to none. */
export function idOf<Kind extends RoutedKind>(
  kind: KindRoutes<Kind>,
  id: string,
  organization: unknown,
): TenantId<Kind> {
  if (kind.kind !== "customer") return { id } as TenantId<Kind>;
  const organizationId =
    typeof organization === "string" && organization !== ""
      ? readId(organization, "organization_id")
      : "";
  return { id, organizationId } as TenantId<Kind>;
}

/** A tenant by its identity. Throws `not_found`. */
export async function locateTenant<Kind extends RoutedKind>(
  parts: TenantRouteParts,
  kind: KindRoutes<Kind>,
  id: TenantId<Kind>,
  field = kind.idField,
): Promise<Located<FoundTenant<Kind>>> {
  const found = await findTenant(parts, kind, id);
  const missing = () => notThere(kind.noun, `/${kind.kind}/list`, field);
  if (found === undefined) throw missing();
  return { object: await objectOf(parts, kind, found.record), found, missing };
}

/** A tenant; `undefined` without one. */
export async function findTenant<Kind extends RoutedKind>(
  parts: TenantRouteParts,
  { kind }: KindRoutes<Kind>,
  id: TenantId<Kind>,
): Promise<FoundTenant<Kind> | undefined> {
  const declared = declaredOf(parts, kind, (record) => isOf(record, id));
  const stored = await tableOf(parts.records, kind).find(id);
  const record = declaredRecord(declared, stored);
  return record && { id, record, declared };
}

/** Whether a record has an identity. */
export function isOf(record: object, id: object): boolean {
  return Object.entries(id).every(([name, value]) =>
    isDeepStrictEqual((record as Readonly<Record<string, unknown>>)[name], value),
  );
}

/** The record that counts: the declared one, with the time of its row. */
export function declaredRecord<Kind extends RoutedKind>(
  declared: DeclaredTenant<Kind> | undefined,
  stored: TenantRecords[Kind] | undefined,
): TenantRecords[Kind] | undefined {
  if (declared === undefined) return stored;
  const { at: _at, ...members } = declared;
  const createdAtMs = stored?.createdAtMs ?? null;
  return { ...members, managedBy: "file", createdAtMs } as unknown as TenantRecords[Kind];
}

const PAGE = 500;

/** All memberships of a query, page by page. */
export async function* membershipsOf(
  { records }: Pick<TenantRouteParts, "records">,
  query: Omit<TenantQuery, "limit" | "after">,
): AsyncGenerator<MembershipRecord> {
  let after: string | undefined;
  do {
    const page = await records.tenants.membership.list({
      ...query,
      limit: PAGE,
      ...(after !== undefined && { after }),
    });
    yield* page.records;
    after = page.next;
  } while (after !== undefined);
}

/** Where a record is. A user is also where the user's teams are. */
export async function objectOf<Kind extends RoutedKind>(
  parts: TenantRouteParts,
  kind: KindRoutes<Kind>,
  record: TenantRecords[Kind],
): Promise<PolicyObject> {
  const object = kind.object(record);
  if (kind.kind !== "user") return object;
  const userId = (record as TenantRecords["user"]).id;
  const places: ObjectPlace[] = [...object.places];
  for await (const { teamId } of membershipsOf(parts, { userId })) {
    const team = await parts.records.teams.find(teamId);
    places.push({ organizationId: team?.organizationId ?? null, teamId });
  }
  return { ...object, places };
}
