/** A row of LiteLLM_VerificationToken as an imported key. */

import { defined, idAt, isoAt, isTrueAt, listAt, type Row, textAt, timeAt } from "../values.ts";
import { blockOf, modelsOf, type Reading, referencesOf } from "./block.ts";
import { type Entry, type LeftOut, type Loss, NO_MODEL, type Reference } from "./entry.ts";
import { groupsOf } from "./groups.ts";
import { lost } from "./losses.ts";
import { memberId } from "./member.ts";
import { namesForModels } from "./model-names.ts";

/** Groups of routes that every key may call here too. */
const INFERENCE_ROUTES: readonly string[] = ["llm_api_routes", "openai_routes"];
/** The team of the sessions of LiteLLM's own pages. */
const UI_TEAM = "litellm-dashboard";

/** The key, or the reason why it is left out. */
export function keyEntry(row: Row, reading: Reading): Entry | LeftOut {
  const { index, nowMs } = reading;
  const token = textAt(row, "token") ?? "";
  const name = nameOf(row);
  const teamId = idAt(row, "team_id");
  const endMs = timeAt(row, "expires");
  if (!/^[0-9a-f]{64}$/i.test(token))
    return { name, leftOut: "its token is not the SHA-256 of a key" };
  if (teamId === UI_TEAM) return { name, leftOut: "it is a session of LiteLLM's pages" };
  if (endMs !== undefined && endMs <= nowMs) return { name, leftOut: "it has expired" };
  const groups = groupsOf(row, index);
  const isClosed = teamId === undefined && hasNoModels(row, reading);
  const models = isClosed ? [NO_MODEL] : modelsOf(row, groups.names, teamId !== undefined);
  const { fields, ...block } = blockOf(row, models, reading);
  const aliases = namesForModels(row, "aliases");
  const isBeyond = isOfOtherOrganization(row, reading);
  return {
    id: token.toLowerCase(),
    name,
    body: {
      sha256: token.toLowerCase(),
      last4: last4Of(row) ?? "",
      ...defined("key_alias", textAt(row, "key_alias")),
      ...fields,
      ...(aliases.map !== undefined && { model_aliases: aliases.map }),
      ...defined("expires", isoAt(row, "expires")),
      ...defined("user_id", idAt(row, "user_id")),
      ...defined("team_id", teamId),
      ...(!isBeyond && defined("organization_id", idAt(row, "organization_id"))),
    },
    references: [...block.references, ...placesOf(row, reading)],
    bounds: [...block.bounds, ...boundsOf(row, isBeyond)],
    unreadable: block.unreadable,
    losses: [...block.losses, ...groups.losses, ...aliases.losses, ...lossesOf(row)],
  };
}

/** How messages call it. A `key_name` in another form than LiteLLM's may be the key itself. */
function nameOf(row: Row): string {
  const alias = textAt(row, "key_alias");
  if (alias !== undefined) return `key ${JSON.stringify(alias)}`;
  const last4 = last4Of(row);
  return last4 === undefined ? "key without a name" : `key sk-...${last4}`;
}

function last4Of(row: Row): string | undefined {
  return /^sk-\.\.\.([!-~]{4})$/.exec(textAt(row, "key_name") ?? "")?.[1];
}

/** Whether its user may use no model with keys of their own. */
function hasNoModels(row: Row, { index }: Reading): boolean {
  const userId = idAt(row, "user_id");
  return userId !== undefined && index.users.get(userId)?.hasNoModels === true;
}

/** Whether its team belongs to another organization than it does. */
function isOfOtherOrganization(row: Row, { index }: Reading): boolean {
  const [organizationId, teamId] = [idAt(row, "organization_id"), idAt(row, "team_id")];
  if (organizationId === undefined || teamId === undefined) return false;
  const ofTeam = index.teams.get(teamId) ?? null;
  return ofTeam !== null && ofTeam !== organizationId;
}

/**
 * Everything whose limits hold for it. A user who is in no row of the users has none: the name
 * stays as a label.
 */
function placesOf(row: Row, reading: Reading): Reference[] {
  const { index } = reading;
  const references = referencesOf(row, [["teams", "team_id"]]);
  if (!isOfOtherOrganization(row, reading))
    references.push(...referencesOf(row, [["organizations", "organization_id"]]));
  const [userId, teamId] = [idAt(row, "user_id"), idAt(row, "team_id")];
  if (userId === undefined) return references;
  const isLabel = index.tables.has("users") && !index.users.has(userId);
  if (isLabel) return references;
  references.push({ table: "users", id: userId, field: "user_id" });
  if (teamId !== undefined)
    references.push({ table: "members", id: memberId(teamId, userId), field: "user_id" });
  return references;
}

function boundsOf(row: Row, isBeyond: boolean): Loss[] {
  const routes = listAt(row, "allowed_routes").filter((route) => !INFERENCE_ROUTES.includes(route));
  return [
    ...(routes.length === 0
      ? []
      : [{ column: "allowed_routes", why: "a key here may call every inference route" }]),
    ...(isBeyond
      ? [{ column: "organization_id", why: "the team belongs to another organization" }]
      : []),
    ...lost(row, "project_id", "projects and their limits have no equivalent"),
    ...lost(row, "agent_id", "agents and their limits have no equivalent"),
  ];
}

function lossesOf(row: Row): Loss[] {
  return [
    ...lost(row, "config", "it has no equivalent"),
    ...lost(row, "permissions", "permissions of single features have no equivalent"),
    ...lost(row, "allowed_cache_controls", "the step cache says what requests may ask"),
    ...(isTrueAt(row, "auto_rotate")
      ? [{ column: "auto_rotate", why: "rotate with sluice keys rotate" }]
      : []),
  ];
}
