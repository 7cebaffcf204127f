/**
 * Every record that bounds a principal: those whose limits hold for the requests of its user, or of
 * the user who has issued its key.
 */

import type {
  KeyRecord,
  KeyStore,
  LimitBlock,
  MembershipRecord,
  OrganizationRecord,
  TeamRecord,
  UserRecord,
} from "@sluice/contract";
import type { DeclaredKey, Snapshot } from "../../config/snapshot.ts";
import type { Principal } from "./may.ts";
import type { PrincipalParts } from "./principals.ts";

/** The parts that records are found in. */
export interface SubjectParts extends PrincipalParts {
  readonly keys: PrincipalParts["keys"] & Pick<KeyStore, "list">;
  /** What the live files declare. Absent: nothing. */
  readonly declared?: () => DeclaredSubjects | undefined;
}

/** What files declare that bounds users. */
export type DeclaredSubjects = Pick<Snapshot, "keys" | "tenants" | "customers">;

/** What belongs to a user. */
export interface UserRecords {
  readonly user: UserRecord | undefined;
  readonly memberships: readonly MembershipRecord[];
  readonly teams: readonly TeamRecord[];
}

/** The names in a record that bounds: other records decide what they stand for. */
export interface Naming {
  readonly budgetId: string | null;
  /** Lists of models. */
  readonly lists: readonly (readonly string[])[];
  /** Models with limits of their own. */
  readonly limited: readonly string[];
}

/** A key of the store or of the files, as far as it bounds. */
export interface OwnKey {
  readonly teamId: string | null;
  readonly organizationId: string | null;
  readonly customerId: string | null;
  readonly naming: Naming;
}

const PAGE = 500;

/** A user with memberships and their teams. */
export async function recordsOf(
  userId: string,
  { tenants, teams }: PrincipalParts,
): Promise<UserRecords> {
  const user = await tenants?.user.find({ id: userId });
  const memberships: MembershipRecord[] = [];
  let after: string | undefined;
  do {
    const query = { userId, limit: PAGE, ...(after !== undefined && { after }) };
    const page = await tenants?.membership.list(query);
    memberships.push(...(page?.records ?? []));
    after = page?.next;
  } while (after !== undefined);
  const found = await Promise.all(memberships.map(({ teamId }) => teams.find(teamId)));
  return { user, memberships, teams: found.flatMap((team) => team ?? []) };
}

/** The keys of a principal, of the files and of the store. */
export async function* keysOf(
  principal: Principal,
  { declared, keys }: SubjectParts,
): AsyncGenerator<OwnKey> {
  for (const userId of selvesOf(principal)) {
    for (const key of declared?.()?.keys ?? []) if (key.userId === userId) yield ofDeclared(key);
    for (let offset = 0, total = 1; offset < total; offset += PAGE) {
      const page = await keys.list({ userId, offset, limit: PAGE });
      for (const key of page.keys) yield ofStored(key);
      total = page.total;
    }
  }
}

/** Every record that bounds the principal. */
export async function* boundingOf(
  principal: Principal,
  parts: SubjectParts,
): AsyncGenerator<Naming> {
  const teamIds = new Set<string>();
  const organizationIds = new Set<string>();
  for (const { place } of principal.roles) {
    if (place.kind === "organization") organizationIds.add(place.id);
    if (place.kind === "team") teamIds.add(place.id);
  }
  for (const userId of selvesOf(principal)) {
    const { user, memberships } = await recordsOf(userId, parts);
    if (user !== undefined) yield ofBlock(user);
    for (const id of user?.organizations ?? []) organizationIds.add(id);
    for (const membership of memberships) {
      yield ofBlock(membership);
      teamIds.add(membership.teamId);
    }
  }
  for await (const key of keysOf(principal, parts)) {
    yield key.naming;
    if (key.teamId !== null) teamIds.add(key.teamId);
    if (key.organizationId !== null) organizationIds.add(key.organizationId);
    if (key.customerId !== null) yield await ofCustomer(key, key.customerId, parts);
  }
  for (const id of teamIds) {
    const team = await parts.teams.find(id);
    if (team === undefined) continue;
    yield withLists(team, team.memberDefaults.models);
    if (team.organizationId !== null) organizationIds.add(team.organizationId);
  }
  for (const id of organizationIds) {
    const organization = await parts.tenants?.organization.find({ id });
    if (organization !== undefined) yield withLists(organization);
  }
}

/** The customer of a key: the declared one, or that of the store, or what holds without one. */
async function ofCustomer(
  { teamId, organizationId: own }: OwnKey,
  id: string,
  { teams, tenants, declared }: SubjectParts,
): Promise<Naming> {
  const files = declared?.();
  const team = teamId === null ? undefined : await teams.find(teamId);
  const organizationId = team?.organizationId ?? own ?? "";
  const written = files?.tenants.customer.find(
    (one) => one.id === id && one.organizationId === organizationId,
  );
  const record = written ?? (await tenants?.customer.find({ id, organizationId }));
  const naming = record === undefined ? NAMES_NOTHING : ofBlock(record);
  return { ...naming, budgetId: naming.budgetId ?? files?.customers.defaultBudget ?? null };
}

/** The users whose limits a principal may not raise: its own, and the issuer of its key. */
export function selvesOf({ userId, issuer }: Principal): readonly string[] {
  return [...new Set([userId, issuer].flatMap((id) => id ?? []))];
}

/** Whether a user is the principal, or has issued its key. */
export function isSelf(principal: Principal, userId: string | null | undefined): boolean {
  return userId != null && selvesOf(principal).includes(userId);
}

/** A record without names. */
export const NAMES_NOTHING: Naming = Object.freeze({ budgetId: null, lists: [], limited: [] });

function ofBlock({
  budgetId,
  models,
  perModel,
}: Pick<LimitBlock, "budgetId" | "models" | "perModel">) {
  return { budgetId, lists: [models], limited: Object.keys(perModel) };
}

/** A place, with the lists of models that it has for its users. */
function withLists(
  record: Pick<OrganizationRecord, "budgetId" | "models" | "perModel" | "selfService">,
  ofMembers: readonly string[] = [],
): Naming {
  const naming = ofBlock(record);
  const ofKeys = record.selfService?.upperBounds.models ?? [];
  return { ...naming, lists: [...naming.lists, ofMembers, ofKeys] };
}

function ofStored(key: KeyRecord): OwnKey {
  const { teamId, organizationId, customerId } = key;
  return { teamId, organizationId, customerId, naming: ofBlock(key) };
}

function ofDeclared(key: DeclaredKey): OwnKey {
  const { teamId = null, organizationId = null, customerId = null } = key;
  const { budgetId = null, models, perModel = {} } = key;
  return { teamId, organizationId, customerId, naming: ofBlock({ budgetId, models, perModel }) };
}
