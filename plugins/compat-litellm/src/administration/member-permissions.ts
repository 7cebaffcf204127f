/** LiteLLM's permissions of members of a team, as this gateway has them. */

import type { JsonObject } from "@sluice/contract";
import { isObject } from "@sluice/kit";

/** What every member may do. */
export const OF_ALL: readonly string[] = ["/key/info", "/key/health"];
/** What members of a team with `self_service` may do besides. */
export const OF_SELF_SERVICE: readonly string[] = ["/key/generate", "/key/regenerate"];

/** The permissions of members by the record of their team. */
export function permissionsOf({ self_service: rule }: JsonObject): readonly string[] {
  return isObject(rule) ? [...OF_ALL, ...OF_SELF_SERVICE] : OF_ALL;
}
