/** `POST /key/bulk`: one change of up to a hundred keys. */

import { isGatewayError, type JsonObject, type PolicyAction } from "@sluice/contract";
import { type AdminRequest, type AdminRoutes, type Located, several } from "../../access/route.ts";
import { type Changes, invalid, readNames, readNotes } from "../fields.ts";
import { type FoundKey, noKey } from "../find-key.ts";
import { locateKey } from "../locate.ts";
import { KEY_FIELDS, readRecordChanges } from "../record-fields.ts";
import { declaredId } from "../record-view.ts";
import { changeKey, deleteKeys, type KeyRouteParts, unlessMissing } from "./routes.ts";

const MAX_KEYS = 100;
type Action = "block" | "unblock" | "delete" | "update";

/** A key that the body names. */
interface Named {
  readonly asked: string;
  readonly found: FoundKey;
}

/**
 * The route. `key.update` needs what each of the four actions needs, or more. Each key is changed
 * by itself, with a line of the audit of its own.
 */
export function keyBulkRoute(parts: KeyRouteParts): AdminRoutes {
  return {
    "POST /key/bulk": several(
      "key.update",
      (request) => locateAll(request, parts),
      (request, found) => changeAll(request, found, parts),
    ),
  };
}

async function locateAll(
  { body }: AdminRequest,
  parts: KeyRouteParts,
): Promise<readonly Located<Named>[]> {
  const located: Located<Named>[] = [];
  for (const asked of keysIn(body)) {
    const one = await locateKey(parts, asked, "keys").catch(unlessMissing);
    if (one !== undefined) located.push({ ...one, found: { asked, found: one.found } });
  }
  return located;
}

function keysIn({ keys }: JsonObject): readonly string[] {
  const names = readNames(keys ?? null, "keys");
  if (names.length <= MAX_KEYS) return names;
  throw invalid("keys", `The field keys must have at most ${MAX_KEYS} keys.`);
}

async function changeAll(
  request: AdminRequest,
  located: readonly Named[],
  parts: KeyRouteParts,
): Promise<JsonObject> {
  if (located.length === 0) throw noKey("keys");
  const change = changeOf(request, parts);
  const results: JsonObject[] = [];
  for (const asked of keysIn(request.body)) {
    const found = located.find((one) => one.asked === asked)?.found;
    const reason = found === undefined ? undefined : await change(found).catch(reasonOf);
    const outcome = found === undefined ? "missing" : reason === null ? "done" : "refused";
    results.push({ key: keyIdOf(asked, found), outcome, reason: reason ?? null });
  }
  return { results };
}

/** The change of one key. Resolves with null, or rejects with the refusal. */
function changeOf(request: AdminRequest, parts: KeyRouteParts): (found: FoundKey) => Promise<null> {
  const action = request.body["action"] as Action;
  const { fields = null } = request.body;
  if (action !== "update" && fields !== null)
    throw invalid("fields", "The field fields belongs to the action update.");
  const as: AdminRequest = { ...request, action: `key.${action}` satisfies PolicyAction };
  if (action === "delete")
    return async (found) => {
      await deleteKeys(as, [found], parts);
      return null;
    };
  const changes: Changes =
    action === "update"
      ? readRecordChanges(readNotes(fields, "fields"), KEY_FIELDS, [], parts.clock.now())
      : { members: { blocked: action === "block" }, names: ["blocked"] };
  return async (found) => {
    await changeKey(as, found, changes, parts);
    return null;
  };
}

/** The refusal of one key, in words. Throws what is no fault of the key. */
function reasonOf(error: unknown): string {
  if (isGatewayError(error) && error.status < 500 && error.code !== "overloaded")
    return error.message;
  throw error;
}

/** A key that was named by its secret is answered by its id. */
function keyIdOf(asked: string, found: FoundKey | undefined): string | null {
  if (found === undefined) return asked.startsWith("sk-") ? null : asked;
  return "record" in found ? found.record.id : declaredId(found.declared);
}
