/** Deletions of tenants: what became of each, and of its keys. */

import { type Deletion, GatewayError, type JsonObject } from "@sluice/contract";
import { type AdminRequest, type AdminRoute, type Located, several } from "../../access/route.ts";
import { invalid, readNames, refuseUnknown } from "../fields.ts";
import { type KindNames, type KindRoutes, type RoutedKind, tableOf } from "./kinds.ts";
import { changeOf } from "./change-of.ts";
import { checkGrant } from "./grant.ts";
import { findTenant, type FoundTenant, idOf, objectOf } from "./locate.ts";
import { changeRecords, notThere, refuseDeclared, type TenantRouteParts } from "./parts.ts";

/** Keys that an answer lists; it counts all. */
const SHOWN_KEYS = 1_000;

/** `POST …/delete` of a kind. Those that do not exist are left out. */
export function deletionRoute<Kind extends RoutedKind>(
  kind: KindRoutes<Kind>,
  parts: TenantRouteParts,
): AdminRoute {
  return several(
    kind.actions.delete,
    (request) => locateListed(kind, request, parts),
    async (request, found) => {
      const keys = keysOf(kind, request.body);
      for (const { declared, record } of found)
        refuseDeclared(declared, `The ${kind.noun} ${JSON.stringify(record.id)}`, kind.idsField);
      for (const { record } of found) await checkGrant(kind.kind, request, record, undefined);
      const done: { readonly id: string; readonly deletion: Deletion }[] = [];
      for (const { id, record } of found) {
        const audited = {
          ...changeOf(kind, record),
          before: kind.view(record),
          ...(keys !== undefined && { after: { keys } }),
        };
        const deletion = await changeRecords(parts, request, audited, (records) =>
          tableOf(records, kind.kind).delete(id, keys),
        );
        done.push({ id: record.id, deletion });
      }
      return deletionView(kind, done, keys);
    },
  );
}

async function locateListed<Kind extends RoutedKind>(
  kind: KindRoutes<Kind>,
  { body }: AdminRequest,
  parts: TenantRouteParts,
): Promise<readonly Located<FoundTenant<Kind>>[]> {
  const more = { user: ["keys"], customer: ["organization_id"] }[kind.kind as string] ?? [];
  refuseUnknown(Object.keys(body), [kind.idsField, ...more], "field");
  const { [kind.idsField]: given = null } = body;
  if (given === null)
    throw invalid(
      kind.idsField,
      `The field ${kind.idsField} is missing: an array of the ids to delete.`,
    );
  const located: Located<FoundTenant<Kind>>[] = [];
  for (const id of readNames(given, kind.idsField)) {
    const found = await findTenant(parts, kind, idOf(kind, id, body["organization_id"]));
    if (found === undefined) continue;
    const missing = () => notThere(kind.noun, `/${kind.kind}/list`, kind.idsField);
    located.push({ object: await objectOf(parts, kind, found.record), found, missing });
  }
  return located;
}

/** What becomes of the keys of a user. */
function keysOf({ kind }: KindNames, body: JsonObject) {
  return kind === "user" ? readKeysOfUser(body) : undefined;
}

/** What becomes of the keys of a user who leaves: `block`, unless the body says `delete`. */
export function readKeysOfUser({ keys = null }: JsonObject): "delete" | "block" {
  if (keys === null || keys === "block") return "block";
  if (keys === "delete") return "delete";
  throw invalid("keys", "The field keys must be block or delete: what becomes of the user's keys.");
}

function deletionView(
  { kind, noun, idsField, listField }: KindNames,
  done: readonly { readonly id: string; readonly deletion: Deletion }[],
  keys: "delete" | "block" | undefined,
): JsonObject {
  const referenced = done.filter(({ deletion }) => deletion.outcome === "referenced");
  const deleted = done.filter(({ deletion }) => deletion.outcome === "deleted");
  if (deleted.length === 0 && referenced.length > 0)
    throw new GatewayError("invalid_field", inUse(noun, referenced[0]?.id ?? ""), {
      param: idsField,
    });
  if (deleted.length === 0) throw notThere(noun, `/${kind}/list`, idsField);
  const all = deleted.flatMap(({ deletion }) => deletion.keys);
  return {
    [`deleted_${listField}`]: deleted.map(({ id }) => id),
    ...(keys !== undefined && keysView(keys === "delete" ? "deleted" : "blocked", all)),
    ...(referenced.length > 0 && { in_use: referenced.map(({ id }) => id) }),
  };
}

/** What became of keys: the first thousand of their ids, and their number. */
export function keysView(done: string, keys: readonly string[]): JsonObject {
  return { [`${done}_keys`]: keys.slice(0, SHOWN_KEYS), [`${done}_keys_total`]: keys.length };
}

function inUse(noun: string, id: string): string {
  const others =
    noun === "organization"
      ? "teams, keys, budgets or access groups belong to it. Delete or move them first."
      : "others refer to it. Give them another budget first; the filter budget_id of their lists finds them.";
  return `The ${noun} ${JSON.stringify(id)} is in use: ${others}`;
}
