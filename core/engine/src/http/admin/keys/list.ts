/** Admin routes that show keys: those of the store, and those that the configuration declares. */

import { GatewayError, type JsonObject, type RecordLimits } from "@sluice/contract";
import type { DeclaredKey } from "../../../config/snapshot.ts";
import { type AdminRoutes, listed, type Located, named } from "../../access/route.ts";
import { isVisible } from "../../access/may.ts";
import {
  belongingOf,
  keyLocated,
  locateKey,
  ownersOf,
  type PlaceParts,
  placesOf,
} from "../locate.ts";
import { type BudgetParts, keyBudgetView } from "../budget-view.ts";
import { invalid, refuseUnknown } from "../fields.ts";
import type { FoundKey } from "../find-key.ts";
import { keyPage, type KeyPageParts, PAGED_PARAMETERS } from "./page.ts";
import { declaredView, keyView } from "../record-view.ts";
import { type WindowParts, windowView } from "../window-view.ts";

const MAX_SIZE = 100;
const DEFAULT_SIZE = 10;

/** `GET /key/info` and `GET /key/list`. */
export function keyListRoutes(places: KeyPageParts & BudgetParts & WindowParts): AdminRoutes {
  return {
    "GET /key/info": named(
      "key.read",
      ({ query }) => findAsked(places, query),
      async (_, found) => {
        const view = viewOf(found);
        const keyId = String(view["token_id"]);
        const [spent, used] = await Promise.all([
          keyBudgetView(limitsOf(found), keyId, places),
          keyWindows(found, keyId, places),
        ]);
        return { key: keyId, info: { ...view, ...spent, ...used } };
      },
    ),
    "GET /key/list": listed("key.read", async ({ query }, visible) => {
      if (PAGED_PARAMETERS.some((name) => query.has(name))) return keyPage(query, visible, places);
      const page = wholeNumber(query, "page", 1, Number.MAX_SAFE_INTEGER / MAX_SIZE);
      const size = wholeNumber(query, "size", DEFAULT_SIZE, MAX_SIZE);
      const isFull = flag(query, "return_full_object", true);
      const filter = filterOf(query);
      // Declared keys come first; the store's pages begin where they end.
      const matching = places.declared().filter((key) => matches(key, filter));
      const declared = matching.filter((key) => isVisible(visible, belongingOf(places, key)));
      const start = (page - 1) * size;
      const shown = declared.slice(start, start + size);
      const range = { offset: Math.max(0, start - declared.length), limit: size - shown.length };
      const { keys, total } = await places.keys.list({
        ...filter,
        ...range,
        ...(visible !== "all" && { within: visible }),
      });
      const views = [...shown.map(declaredView), ...keys.map(keyView)];
      const totalCount = declared.length + total;
      return {
        keys: isFull ? views : views.map((view) => view["token_id"]),
        total_count: totalCount,
        current_page: page,
        total_pages: Math.ceil(totalCount / size),
      };
    }),
  };
}

async function findAsked(places: PlaceParts, query: URLSearchParams): Promise<Located<FoundKey>> {
  refuseUnknown(query.keys(), ["key", "key_alias"], "query parameter");
  const [key, alias] = [query.get("key") ?? "", query.get("key_alias") ?? ""];
  if (key !== "" && alias !== "") throw invalid("key_alias", "Send key or key_alias, not both.");
  if (key !== "") return locateKey(places, key, "key");
  if (alias === "")
    throw invalid("key", "The query parameter key is missing: a key, or its id (token_id).");
  const declared = places.declared().find((candidate) => candidate.alias === alias);
  if (declared !== undefined) return keyLocated(places, { declared }, noAlias);
  const [record] = (await places.keys.list({ alias, offset: 0, limit: 1 })).keys;
  if (record === undefined) throw noAlias();
  return keyLocated(places, { record }, noAlias);
}

function noAlias(): GatewayError {
  return new GatewayError(
    "not_found",
    "No key has the alias in key_alias. GET /key/list lists the keys.",
    { param: "key_alias" },
  );
}

function viewOf(found: FoundKey): JsonObject {
  return "record" in found ? keyView(found.record) : declaredView(found.declared);
}

/** What is used of the key's own rates. */
async function keyWindows(
  found: FoundKey,
  keyId: string,
  parts: PlaceParts & WindowParts,
): Promise<JsonObject> {
  const owners = ownersOf(found);
  const [userId, teamId] = [owners.userId ?? undefined, owners.teamId ?? undefined];
  const [place] = await placesOf(parts, owners);
  const belonging = { keyId, userId, teamId, organizationId: place?.organizationId ?? undefined };
  const limits = "record" in found ? found.record : (found.declared.limits ?? {});
  return windowView(limits, { kind: "key", id: keyId, belonging }, parts);
}

function limitsOf(
  found: FoundKey,
): Pick<RecordLimits, "maxBudgetNanoUsd" | "budgetDuration" | "importedSpend"> {
  if ("record" in found) return found.record;
  return found.declared.limits ?? { maxBudgetNanoUsd: null, budgetDuration: null };
}

interface Filter {
  readonly userId?: string;
  readonly teamId?: string;
  readonly alias?: string;
}

/** An empty parameter counts as absent, because forms send empty values. */
function filterOf(query: URLSearchParams): Filter {
  const [userId, teamId, alias] = ["user_id", "team_id", "key_alias"].map(
    (name) => query.get(name) || undefined,
  );
  return {
    ...(userId !== undefined && { userId }),
    ...(teamId !== undefined && { teamId }),
    ...(alias !== undefined && { alias }),
  };
}

function matches(key: DeclaredKey, { userId, teamId, alias }: Filter): boolean {
  const isSame = (wanted: string | undefined, is: string | undefined): boolean =>
    wanted === undefined || wanted === is;
  return isSame(userId, key.userId) && isSame(teamId, key.teamId) && isSame(alias, key.alias);
}

function wholeNumber(
  query: URLSearchParams,
  name: string,
  otherwise: number,
  most: number,
): number {
  const text = query.get(name) ?? "";
  if (text === "") return otherwise;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= most) return value;
  throw invalid(
    name,
    `The query parameter ${name} must be a whole number from 1${most === MAX_SIZE ? ` to ${most}` : ""}.`,
  );
}

function flag(query: URLSearchParams, name: string, otherwise: boolean): boolean {
  const text = query.get(name) ?? "";
  if (text === "") return otherwise;
  if (text !== "true" && text !== "false")
    throw invalid(name, `The query parameter ${name} must be true or false.`);
  return text === "true";
}
