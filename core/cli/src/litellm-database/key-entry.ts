/** A row of LiteLLM_VerificationToken as an imported key. */

import { defined, type Entry, isoAt, sharedBounds, sharedFields, sharedLosses } from "./entry.ts";
import { type Loss, lost } from "./loss.ts";
import { listAt, type Row, textAt, timeAt } from "./values.ts";

/** Groups of routes that every key may call here too. */
const INFERENCE_ROUTES: readonly string[] = ["llm_api_routes", "openai_routes"];
/** The team of the sessions of LiteLLM's own pages. */
const UI_TEAM = "litellm-dashboard";

/** The key, or the reason why it is left out. */
export function keyEntry(row: Row, nowMs: number): Entry | { readonly leftOut: string } {
  const token = textAt(row, "token") ?? "";
  const alias = textAt(row, "key_alias");
  const shown = textAt(row, "key_name");
  const name = `key ${alias === undefined ? (shown ?? "without a name") : JSON.stringify(alias)}`;
  const teamId = textAt(row, "team_id");
  const endMs = timeAt(row, "expires");
  if (!/^[0-9a-f]{64}$/i.test(token))
    return { leftOut: `${name}: its token is not the SHA-256 of a key` };
  if (teamId === UI_TEAM) return { leftOut: `${name}: it is a session of LiteLLM's pages` };
  if (endMs !== undefined && endMs <= nowMs) return { leftOut: `${name}: it has expired` };
  const body = {
    sha256: token.toLowerCase(),
    last4: /^sk-\.\.\.([!-~]{4})$/.exec(shown ?? "")?.[1] ?? "",
    ...defined("key_alias", alias),
    ...sharedFields(row, nowMs),
    ...defined("expires", isoAt(row, "expires")),
    ...defined("user_id", textAt(row, "user_id")),
    ...defined("team_id", teamId),
  };
  return { body, name, bounds: boundsOf(row), losses: lossesOf(row) };
}

function boundsOf(row: Row): Loss[] {
  const routes = listAt(row, "allowed_routes").filter((route) => !INFERENCE_ROUTES.includes(route));
  return [
    ...(routes.length === 0
      ? []
      : [{ column: "allowed_routes", why: "a key here may call every inference route" }]),
    ...lost(row, "budget_id", "the budget is in another table; set max_budget"),
    ...sharedBounds(row),
  ];
}

function lossesOf(row: Row): Loss[] {
  const controls = listAt(row, "allowed_cache_controls");
  return [
    ...lost(row, "aliases", "other names of models are models of the configuration"),
    ...lost(row, "config", "it has no equivalent"),
    ...lost(row, "permissions", "permissions of single features have no equivalent"),
    ...(controls.length === 0
      ? []
      : [{ column: "allowed_cache_controls", why: "the step cache says what requests may ask" }]),
    ...(row["auto_rotate"] === true || row["auto_rotate"] === "t"
      ? [{ column: "auto_rotate", why: "rotate with sluice keys rotate" }]
      : []),
    ...sharedLosses(row),
  ];
}
