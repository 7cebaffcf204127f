/** Admin routes of the members of teams. */

import {
  EMPTY_LIMITS,
  GatewayError,
  type JsonObject,
  type MembershipRecord,
  type TenantChanges,
  type TenantConflict,
} from "@sluice/contract";
import type { DeclaredTenant } from "../../../config/tenants/declared-tenants.ts";
import {
  type AdminRequest,
  type AdminRoutes,
  listed,
  type Located,
  named,
} from "../../access/route.ts";
import type { AuditChange } from "../../access/audit.ts";
import { budgetView } from "../budget-view.ts";
import { type Fields, readText, refuseUnknown, requiredText } from "../fields.ts";
import { BLOCK_FIELDS, readId, readRecordChanges, readWord } from "../record-fields.ts";
import { limitsView, timeOf } from "../record-view.ts";
import { keysView, readKeysOfUser } from "./delete.ts";
import { originView } from "./kinds.ts";
import { cursorView, listQuery } from "./list-query.ts";
import { warningsOf, type WarningParts } from "./parents.ts";
import { changeRecords, declaredOf, refuseDeclared, type TenantRouteParts } from "./parts.ts";

const IDS = ["team_id", "user_id"];
/** The fields of a member in a body. */
export const MEMBER_FIELDS: Fields = {
  role: { member: "role", read: readWord(["member", "admin"]), cleared: "member" },
  member_alias: { member: "alias", read: readText, cleared: null },
  ...BLOCK_FIELDS,
};

interface Member {
  readonly userId: string;
  readonly teamId: string;
  readonly organizationId: string | null;
  readonly record: MembershipRecord | undefined;
  readonly declared: DeclaredTenant<"membership"> | undefined;
}

/** The routes. */
export function memberRoutes(parts: TenantRouteParts): AdminRoutes {
  return { ...memberChanges(parts), ...memberPages(parts) };
}

function memberChanges(parts: TenantRouteParts): AdminRoutes {
  const read = ({ body }: AdminRequest) =>
    readRecordChanges(body, MEMBER_FIELDS, IDS, parts.clock.now());
  return {
    "POST /team/member_add": named(
      "member.write",
      (request) => locate(parts, request.body),
      async (request, member) => {
        const { members, names } = read(request);
        refuseFile(member);
        const { userId, teamId } = member;
        const record: MembershipRecord = {
          ...EMPTY_LIMITS,
          role: "member",
          ...members,
          userId,
          teamId,
          createdAtMs: parts.clock.now(),
        };
        await request.grants.membership(request.principal, undefined, record);
        const outcome = await changeRecords(
          parts,
          request,
          { ...changeOf(member), after: memberView(record), fields: names },
          ({ tenants }) => tenants.membership.insert(record),
        );
        if (outcome !== "added") throw conflict(outcome, member);
        return answer(record, member, parts);
      },
    ),
    "POST /team/member_update": named(
      "member.write",
      (request) => locateMember(parts, request.body),
      async (request, member) => {
        const { members, names } = read(request);
        refuseFile(member);
        const changes = { ...members, managedBy: "store" } as TenantChanges<"membership">;
        const { record: present } = member;
        if (present === undefined) throw noMember();
        const after = { ...present, ...members };
        await request.grants.membership(request.principal, present, after);
        const audited = {
          ...changeOf(member),
          before: memberView(present),
          after: memberView(after),
          fields: names,
        };
        const record = await changeRecords(parts, request, audited, ({ tenants }) =>
          tenants.membership.update(member, changes),
        );
        if (record === undefined) throw noMember();
        if (typeof record === "string") throw conflict(record, member);
        return answer(record, member, parts);
      },
    ),
    ...memberDeletion(parts),
  };
}

function memberDeletion(parts: TenantRouteParts): AdminRoutes {
  return {
    "POST /team/member_delete": named(
      "member.write",
      (request) => {
        refuseUnknown(Object.keys(request.body), [...IDS, "keys"], "field");
        return locateMember(parts, request.body);
      },
      async (request, member) => {
        const keys = readKeysOfUser(request.body);
        refuseFile(member);
        const deletion = await changeRecords(
          parts,
          request,
          { ...changeOf(member), after: { keys } },
          ({ tenants }) => tenants.membership.delete(member, keys),
        );
        if (deletion.outcome !== "deleted") throw noMember();
        const done = keys === "delete" ? "deleted" : "blocked";
        return {
          team_id: member.teamId,
          user_id: member.userId,
          ...keysView(done, deletion.keys),
        };
      },
    ),
  };
}

function memberPages(parts: TenantRouteParts): AdminRoutes {
  return {
    "GET /team/member_info": named(
      "member.read",
      ({ query }) => {
        refuseUnknown(query.keys(), IDS, "query parameter");
        return locateMember(parts, Object.fromEntries(query));
      },
      async (_, { record, userId, teamId }) => {
        if (record === undefined) throw noMember();
        const spent = await budgetView(record, { userId, teamId }, parts);
        return {
          team_id: teamId,
          user_id: userId,
          member_info: { ...memberView(record), ...spent },
        };
      },
    ),
    "GET /team/member_list": listed("member.read", async ({ query }, visible) => {
      const filters = ["team_id", "user_id", "organization_id", "budget_id"] as const;
      const page = await parts.records.tenants.membership.list(listQuery(query, filters, visible));
      return {
        members: page.records.map((record) => memberView(shown(parts, record))),
        ...cursorView(page),
      };
    }),
  };
}

const SHOWN_MEMBERS = 100;

/** The first members of a team, for its page. */
export async function membersOf(
  teamId: string,
  { records, declaredTenants }: WarningParts,
): Promise<JsonObject> {
  if (records === undefined || declaredTenants === undefined) return {};
  const page = await records.tenants.membership.list({ teamId, limit: SHOWN_MEMBERS });
  return { members: page.records.map((record) => memberView(shown({ declaredTenants }, record))) };
}

/** A membership. */
export function memberView(record: MembershipRecord): JsonObject {
  return {
    team_id: record.teamId,
    user_id: record.userId,
    role: record.role,
    member_alias: record.alias,
    ...originView(record),
    ...limitsView(record),
    created_at: timeOf(record.createdAtMs),
  };
}

/** The team and the user that are named, whether the user is a member or not. */
async function locate(parts: TenantRouteParts, given: JsonObject): Promise<Located<Member>> {
  const teamId = readId(requiredText(given, "team_id", "the id of a team"), "team_id");
  const userId = readId(requiredText(given, "user_id", "the id of a user"), "user_id");
  // The row of a declared team is written after the edit is live.
  const isTeam = ({ id }: { readonly id: string }): boolean => id === teamId;
  const team = parts.declaredTeams().find(isTeam) ?? (await parts.records.teams.find(teamId));
  if (team === undefined) throw noTeam();
  const isOne = (one: { readonly userId: string; readonly teamId: string }): boolean =>
    one.userId === userId && one.teamId === teamId;
  const declared = declaredOf(parts, "membership", isOne);
  const stored = await parts.records.tenants.membership.find({ userId, teamId });
  const record = declared === undefined ? stored : fromFile(declared, stored);
  const { organizationId } = team;
  return {
    object: { places: [{ organizationId, teamId }], userId },
    found: { userId, teamId, organizationId, record, declared },
    missing: noTeam,
  };
}

async function locateMember(parts: TenantRouteParts, given: JsonObject): Promise<Located<Member>> {
  const located = await locate(parts, given);
  if (located.found.record === undefined) throw noMember();
  return { ...located, missing: noMember };
}

function shown(
  parts: Pick<TenantRouteParts, "declaredTenants">,
  stored: MembershipRecord,
): MembershipRecord {
  const declared = declaredOf(
    parts,
    "membership",
    (one) => one.userId === stored.userId && one.teamId === stored.teamId,
  );
  return declared === undefined ? stored : fromFile(declared, stored);
}

function fromFile(
  { at: _at, ...members }: DeclaredTenant<"membership">,
  stored: MembershipRecord | undefined,
): MembershipRecord {
  return { ...members, managedBy: "file", createdAtMs: stored?.createdAtMs ?? 0 };
}

async function answer(
  record: MembershipRecord,
  { teamId, userId, organizationId }: Member,
  parts: TenantRouteParts,
): Promise<JsonObject> {
  const references = { teamId, userId, organizationId, budgetId: record.budgetId };
  return { ...memberView(record), ...(await warningsOf(record, references, parts)) } as JsonObject;
}

/** What the audit says about a member. */
function changeOf({ userId, teamId, organizationId }: Member): AuditChange {
  return { kind: "membership", id: `${userId}@${teamId}`, place: { organizationId, teamId } };
}

function refuseFile({ declared, userId, teamId }: Member): void {
  const what = `The member ${JSON.stringify(userId)} of the team ${JSON.stringify(teamId)}`;
  refuseDeclared(declared, what, "user_id");
}

function noTeam(): GatewayError {
  return new GatewayError(
    "not_found",
    "This team does not exist. GET /team/list lists the teams.",
    {
      param: "team_id",
    },
  );
}

function noMember(): GatewayError {
  return new GatewayError(
    "not_found",
    "This user is no member of the team. GET /team/member_list lists the members.",
    { param: "user_id" },
  );
}

function conflict(outcome: TenantConflict, { userId, teamId }: Member): GatewayError {
  const [user, team] = [JSON.stringify(userId), JSON.stringify(teamId)];
  if (outcome === "taken")
    return new GatewayError(
      "invalid_field",
      `The user ${user} is a member of the team ${team} already. Use POST /team/member_update.`,
      { param: "user_id" },
    );
  if (outcome === "border")
    return new GatewayError(
      "invalid_field",
      "The field budget_id names a budget of another organization.",
      { param: "budget_id" },
    );
  return new GatewayError(
    "not_found",
    `The user ${user}, or the budget that budget_id names, does not exist. POST /user/new makes a user.`,
    { param: "user_id" },
  );
}
