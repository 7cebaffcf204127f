/** Users who leave an organization: their keys there are blocked, and its teams lose them. */

import type { JsonObject, UserRecord } from "@sluice/contract";
import type { AdminRequest } from "../../access/route.ts";
import { keysView } from "./delete.ts";
import { membershipsOf } from "./locate.ts";
import { changeRecords, declaredOf, refuseDeclared, type TenantRouteParts } from "./parts.ts";

const PAGE = 200;

/**
 * Takes a user out of the organizations that a change no longer names. Returns what the answer says
 * about it; nothing for other records, and where none is left.
 */
export async function leaveOrganizations(
  parts: TenantRouteParts,
  request: AdminRequest,
  record: object,
  { organizations }: Readonly<Record<string, unknown>>,
): Promise<JsonObject> {
  if (!isUser(record) || !Array.isArray(organizations)) return {};
  const left = record.organizations.filter((id) => !organizations.includes(id));
  if (left.length === 0) return {};
  const teams: string[] = [];
  const keys: string[] = [];
  for (const organizationId of left) {
    const members = [];
    for await (const member of membershipsOf(parts, { userId: record.id, organizationId }))
      members.push(member.teamId);
    for (const teamId of members) refuseDeclaredMember(parts, record.id, teamId);
    for (const teamId of members) {
      keys.push(...(await leaveTeam(parts, request, record.id, teamId)));
      teams.push(teamId);
    }
    keys.push(...(await blockOwn(parts, request, record.id, organizationId)));
  }
  return { left_teams: teams, ...keysView("blocked", keys) };
}

function isUser(record: object): record is UserRecord {
  return "organizations" in record;
}

function refuseDeclaredMember(parts: TenantRouteParts, userId: string, teamId: string): void {
  const declared = declaredOf(
    parts,
    "membership",
    (one) => one.userId === userId && one.teamId === teamId,
  );
  const what = `The member ${JSON.stringify(userId)} of the team ${JSON.stringify(teamId)}`;
  refuseDeclared(declared, what, "organizations");
}

async function leaveTeam(
  parts: TenantRouteParts,
  request: AdminRequest,
  userId: string,
  teamId: string,
): Promise<readonly string[]> {
  const change = { kind: "membership", id: `${userId}@${teamId}`, after: { keys: "block" } };
  const { keys } = await changeRecords(parts, request, change, ({ tenants }) =>
    tenants.membership.delete({ userId, teamId }, "block"),
  );
  return keys;
}

/** Blocks the keys of a user in an organization; those that are blocked already stay so. */
async function blockOwn(
  parts: TenantRouteParts,
  request: AdminRequest,
  userId: string,
  organizationId: string,
): Promise<readonly string[]> {
  const blocked: string[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const query = { userId, organizationId, offset, limit: PAGE };
    const { keys } = await parts.records.keys.list(query);
    for (const { id } of keys.filter((key) => !key.blocked)) {
      const change = {
        kind: "key",
        id,
        place: { organizationId, teamId: null },
        before: { blocked: false },
        after: { blocked: true },
      };
      await changeRecords(parts, request, change, (records) =>
        records.keys.update(id, { blocked: true }),
      );
      blocked.push(id);
    }
    if (keys.length < PAGE) return blocked;
  }
}
