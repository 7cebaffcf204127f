/**
 * LiteLLM's permissions of members of a team. The gateway has one of them: whether members make
 * keys, which is `self_service` of the team.
 */

import type { EdgeAnswer, EdgeGateway, ExtensionRequest } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { adminRoute, type AdminExtensionRoute, get, mapped, objectIn, post } from "./calls.ts";
import { OF_ALL, OF_SELF_SERVICE, permissionsOf } from "./member-permissions.ts";
import { textsIn } from "./records.ts";
import { teamView } from "./teams.ts";

/** Keys of each member of a team whose members make keys, where the team has no number. */
const MAX_KEYS = 10;

async function list({ query }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const answer = await get(gateway, "/team/info", { team_id: query.get("team_id") || undefined });
  return mapped(answer, ({ team_id: id = null, team_info: team }) => ({
    team_id: id,
    team_member_permissions: permissionsOf(isObject(team) ? team : {}),
    all_available_permissions: [...OF_ALL, ...OF_SELF_SERVICE],
  }));
}

async function update({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const teamId = String(body.team_id ?? "");
  const found = await get(gateway, "/team/info", { team_id: teamId });
  if (found.status !== 200) return found;
  const { team_info: team } = objectIn(found);
  const present = isObject(team) && isObject(team.self_service) ? team.self_service : undefined;
  const asked = textsIn(body.team_member_permissions);
  const makesKeys = asked.some((one) => OF_SELF_SERVICE.includes(one));
  const rule = makesKeys ? (present ?? { max_keys: MAX_KEYS }) : null;
  const answer = await post(gateway, "/team/update", { team_id: teamId, self_service: rule });
  const others = asked.filter((one) => ![...OF_ALL, ...OF_SELF_SERVICE].includes(one));
  return mapped(answer, ({ data }) => ({
    ...teamView(isObject(data) ? data : {}),
    ...(others.length > 0 && { ignored_permissions: others }),
  }));
}

/** The routes. */
export const PERMISSION_ROUTES: readonly AdminExtensionRoute[] = [
  adminRoute("GET /team/permissions_list", "team.read", list),
  adminRoute("POST /team/permissions_update", "team.update", update),
];
