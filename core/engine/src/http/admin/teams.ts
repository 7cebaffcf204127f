/** Admin routes for teams, with LiteLLM's names. */

import { randomBytes } from "node:crypto";
import {
  type Clock,
  EMPTY_TEAM,
  GatewayError,
  type JsonObject,
  type TeamChanges,
  type TeamRecord,
  type TeamStore,
} from "@sluice/contract";
import type { DeclaredTeam } from "../../config/snapshot.ts";
import {
  type AdminRequest,
  type AdminRoutes,
  listed,
  type Located,
  named,
  several,
} from "../access/route.ts";
import { locateTeam } from "./locate.ts";
import type { AuditChange } from "../access/audit.ts";
import { isVisible, type Visible, WHOLE } from "../access/may.ts";
import { type BudgetParts, budgetView } from "./budget-view.ts";
import { type Changes, invalid, readNames, refuseUnknown, requiredText } from "./fields.ts";
import { type KeyPlaces, managedByFile } from "./find-key.ts";
import { declareTeam } from "./keys/routes.ts";
import { TEAM_FIELDS, readId, readRecordChanges } from "./record-fields.ts";
import { type Refused, tenantConflict } from "./tenants/conflict.ts";
import { cursorView, listQuery } from "./tenants/list-query.ts";
import { membersOf } from "./tenants/members.ts";
import { warningsOf, type WarningParts } from "./tenants/parents.ts";
import {
  keysOfTeamView,
  notMoved,
  readKeysOfTeam,
  requireKeysOfTeam,
  textOf,
} from "./tenants/team-deletion.ts";
import { declaredTeamView, declaredView, keyView, teamView } from "./record-view.ts";
import { type WindowParts, windowView } from "./window-view.ts";

/** The parts of the routes. */
export interface TeamRouteParts extends KeyPlaces, BudgetParts, WindowParts, WarningParts {
  readonly teams: TeamStore;
  readonly clock: Clock;
}

const WHICH = "the id of a team";
/** Keys that the page of one team shows; `GET /key/list?team_id=` shows them all. */
const SHOWN_KEYS = 100;

/** The routes of teams. */
export function teamRoutes(parts: TeamRouteParts): AdminRoutes {
  return { ...teamChanges(parts), ...teamPages(parts) };
}

/** Changes of teams. A change holds from the next request of every key of the team on. */
function teamChanges(parts: TeamRouteParts): AdminRoutes {
  const { teams, keyRing, clock } = parts;

  const change = async (
    request: AdminRequest,
    id: string,
    { members, names }: Changes,
  ): Promise<TeamRecord> => {
    refuseDeclared(parts, id, "team_id");
    const present = await teams.find(id);
    if (present === undefined) throw noTeam("team_id");
    // A team that the file no longer declares is the store's from its first change on.
    const changes: TeamChanges = { ...members, managedBy: "store" };
    await request.grants.team(request.principal, present, { ...present, ...members });
    const audited = {
      ...changeOf(present),
      before: teamView(present),
      after: teamView({ ...present, ...members }),
      fields: names,
    };
    const record = await request.audit.change(request, audited, (store) =>
      store.teams.update(id, changes),
    );
    if (record === undefined) throw noTeam("team_id");
    if (typeof record === "string") throw tenantConflict(record, refusedTeam(id));
    keyRing.forget();
    return record;
  };
  const setBlocked = (action: "team.block" | "team.unblock") =>
    named(action, asked(parts), async (request, id) => {
      refuseUnknown(Object.keys(request.body), ["team_id"], "field");
      const blocked = action === "team.block";
      return teamView(await change(request, id, { members: { blocked }, names: ["blocked"] }));
    });

  return {
    "POST /team/new": named("team.create", locateNew, (request) => createTeam(request, parts)),
    "POST /team/update": named("team.update", asked(parts), async (request, id) => {
      const changes = readRecordChanges(request.body, TEAM_FIELDS, ["team_id"], clock.now());
      const record = await change(request, id, changes);
      const warned = await warningsOf(record, { ...record, teamId: null }, parts);
      return { team_id: record.id, data: teamView(record), ...warned };
    }),
    "POST /team/block": setBlocked("team.block"),
    "POST /team/unblock": setBlocked("team.unblock"),
    "POST /team/delete": several("team.delete", locateListed(parts), (request, ids) =>
      deleteTeams(request, ids, parts),
    ),
  };
}

/** The team that a body names. */
function asked(parts: TeamRouteParts) {
  return ({ body }: AdminRequest): Promise<Located<string>> =>
    locateTeam(parts, requiredText(body, "team_id", WHICH), () => noTeam("team_id"));
}

/** A team that does not exist yet: it is in its organization, else at the whole. */
async function locateNew({ body }: AdminRequest): Promise<Located<undefined>> {
  const { organization_id: organizationId = null } = body;
  const places =
    typeof organizationId === "string" ? [{ organizationId, teamId: null }] : WHOLE.places;
  return { object: { places }, found: undefined, missing: () => noTeam("team_id") };
}

function locateListed(parts: TeamRouteParts) {
  return async ({ body }: AdminRequest): Promise<readonly Located<string>[]> => {
    refuseUnknown(Object.keys(body), ["team_ids", "keys"], "field");
    const { team_ids: ids = null } = body;
    if (ids === null)
      throw invalid("team_ids", "The field team_ids is missing: an array of the ids of teams.");
    return Promise.all(
      readNames(ids, "team_ids").map((id) => locateTeam(parts, id, () => noTeam("team_ids"))),
    );
  };
}

/** What the audit says about a team that is changed. */
function changeOf({ id, organizationId }: TeamRecord): AuditChange {
  return { kind: "team", id, place: { organizationId, teamId: id } };
}

async function createTeam(request: AdminRequest, parts: TeamRouteParts): Promise<JsonObject> {
  const { keyRing, clock } = parts;
  const { body } = request;
  const nowMs = clock.now();
  const { members, names } = readRecordChanges(body, TEAM_FIELDS, ["team_id"], nowMs);
  const { team_id: wanted = null } = body;
  const id =
    wanted === null ? `team_${randomBytes(9).toString("base64url")}` : readId(wanted, "team_id");
  refuseDeclared(parts, id, "team_id");
  const record: TeamRecord = { ...EMPTY_TEAM, ...members, id, createdAtMs: nowMs };
  await request.grants.team(request.principal, undefined, record);
  const outcome = await request.audit.change(
    request,
    { ...changeOf(record), after: teamView(record), fields: names },
    ({ teams }) => teams.insert(record),
  );
  if (outcome !== "added") throw tenantConflict(outcome, refusedTeam(id));
  keyRing.forget();
  return { ...teamView(record), ...(await warningsOf(record, { ...record, teamId: null }, parts)) };
}

async function deleteTeams(
  request: AdminRequest,
  ids: readonly string[],
  parts: TeamRouteParts,
): Promise<JsonObject> {
  const { teams, keys, keyRing } = parts;
  const chosen = readKeysOfTeam(request.body);
  for (const id of ids) {
    refuseDeclared(parts, id, "team_ids");
    refuseDeclaredMembers(parts, id);
  }
  await requireKeysOfTeam(ids, keys, chosen);
  if (typeof chosen === "object") {
    for (const id of ids) await request.grants.keysMoved(request.principal, id);
    await declareTeam(parts, chosen.moveToTeam);
  }
  const deleted: string[] = [];
  const keysOfAll: string[] = [];
  for (const id of ids) {
    const present = await teams.find(id);
    if (present === undefined) continue;
    const deletion = await request.audit.change(
      request,
      { ...changeOf(present), before: teamView(present), after: { keys: textOf(chosen) } },
      (store) => store.teams.delete(id, chosen ?? "block"),
    );
    if (deletion.outcome === "absent") continue;
    if (deletion.outcome !== "deleted" && typeof chosen === "object")
      throw notMoved(deletion.outcome, chosen);
    keyRing.forget();
    deleted.push(id);
    keysOfAll.push(...deletion.keys);
  }
  if (deleted.length === 0) throw noTeam("team_ids");
  return { deleted_teams: deleted, ...keysOfTeamView(chosen, keysOfAll) };
}

/** Teams as they are. */
function teamPages(parts: TeamRouteParts): AdminRoutes {
  const { teams, keys, declared } = parts;
  return {
    "GET /team/info": named("team.read", queried(parts), async (_, id) => {
      const written = declaredTeam(parts, id);
      const team = written ?? (await teams.find(id));
      if (team === undefined) throw noTeam("team_id");
      const view = written === undefined ? teamView(team as TeamRecord) : declaredTeamView(written);
      const members = declared().filter(({ teamId }) => teamId === id);
      const { keys: found, total } = await keys.list({ teamId: id, offset: 0, limit: SHOWN_KEYS });
      const organizationId = team.organizationId ?? undefined;
      const belonging = { keyId: "", userId: undefined, teamId: id, organizationId };
      const [spent, used] = await Promise.all([
        budgetView(team, { teamId: id }, parts),
        windowView(team, { kind: "team", id, belonging }, parts),
      ]);
      return {
        team_id: id,
        team_info: { ...view, ...spent, ...used },
        keys: [...members.map(declaredView), ...found.map(keyView)],
        total_keys: members.length + total,
        ...(await membersOf(id, parts)),
      };
    }),
    "GET /team/list": listed("team.read", ({ query }, visible) =>
      isPaged(query) ? teamPage(query, visible, parts) : everyTeam(visible, parts),
    ),
  };
}

const LIST_FILTERS = ["organization_id", "user_id", "budget_id"] as const;
/** Teams of the list without a cursor. */
const MAX_TEAMS = 1_000;

function isPaged(query: URLSearchParams): boolean {
  return [...query.keys()].length > 0;
}

async function teamPage(
  query: URLSearchParams,
  visible: Visible,
  parts: TeamRouteParts,
): Promise<JsonObject> {
  const page = await parts.teams.list(listQuery(query, LIST_FILTERS, visible));
  return { teams: page.records.map((team) => shownTeam(team, parts)), ...cursorView(page) };
}

/** The list without parameters: all teams, while they are few. */
async function everyTeam(visible: Visible, parts: TeamRouteParts): Promise<readonly JsonObject[]> {
  const within = visible === "all" ? {} : { within: visible };
  const { records, next } = await parts.teams.list({ ...within, limit: MAX_TEAMS });
  if (next !== undefined)
    throw invalid(
      "limit",
      `There are more than ${MAX_TEAMS} teams: send limit, and cursor for the pages after the first.`,
    );
  const rows = new Set(records.map(({ id }) => id));
  // The row of a declared team may not have been written yet.
  const others = parts
    .declaredTeams()
    .filter(
      ({ id, organizationId }) =>
        !rows.has(id) && isVisible(visible, { teamId: id, organizationId }),
    );
  return [...others.map(declaredTeamView), ...records.map((team) => shownTeam(team, parts))];
}

/** A team as it counts: the declared one, where a file declares it. */
function shownTeam(team: TeamRecord, parts: TeamRouteParts): JsonObject {
  const written = declaredTeam(parts, team.id);
  return written === undefined ? teamView(team) : declaredTeamView(written);
}

/** The team that a query names. */
function queried(parts: TeamRouteParts) {
  return async ({ query }: AdminRequest): Promise<Located<string>> => {
    refuseUnknown(query.keys(), ["team_id"], "query parameter");
    const id = query.get("team_id") ?? "";
    if (id === "")
      throw invalid("team_id", "The query parameter team_id is missing: the id of a team.");
    return locateTeam(parts, id, () => noTeam("team_id"));
  };
}

function refusedTeam(id: string): Refused {
  return { kind: "team", id, idField: "team_id", aliasField: "team_alias", path: "/team" };
}

function declaredTeam({ declaredTeams }: KeyPlaces, id: string): DeclaredTeam | undefined {
  return declaredTeams().find((team) => team.id === id);
}

/** Refuses to change a declared team. */
function refuseDeclared(places: KeyPlaces, id: string, name: string): void {
  const team = declaredTeam(places, id);
  if (team !== undefined) throw managedByFile(`The team ${JSON.stringify(id)}`, team.at, name);
}

/** Refuses to delete the team of a declared key: without the team the key would have no limits. */
function refuseDeclaredMembers({ declared }: TeamRouteParts, id: string): void {
  const member = declared().find(({ teamId }) => teamId === id);
  if (member === undefined) return;
  const { alias, at } = member;
  throw invalid(
    "team_ids",
    `The key ${alias}, declared in the configuration (${at.file}:${at.line}), belongs to the team ${JSON.stringify(id)}: remove it there, or block the team.`,
  );
}

function noTeam(name: string): GatewayError {
  return new GatewayError(
    "not_found",
    "This team does not exist. GET /team/list lists the teams.",
    { param: name },
  );
}
