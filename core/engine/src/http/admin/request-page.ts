/** Places in the list of requests, and the joining of lists of several workers. */

import { isObject, parseJson } from "@sluice/kit";
import type { JsonObject } from "@sluice/contract";

/**
 * The end of a page: later requests, and the listed ones of the same millisecond, have been shown.
 */
export interface RequestPlace {
  readonly atMs: number;
  readonly ids: readonly string[];
}

/** Requests on one page. */
export const MAX_REQUESTS = 100;

/** A place as the text of a cursor. */
export function cursorOf({ atMs, ids }: RequestPlace): string {
  return Buffer.from(JSON.stringify([atMs, ids])).toString("base64url");
}

/** The place of a cursor; `undefined` for another text. */
export function placeOfCursor(cursor: string): RequestPlace | undefined {
  try {
    const [atMs, ids] = parseJson(Buffer.from(cursor, "base64url").toString("utf8")) as [
      unknown,
      unknown,
    ];
    if (!Number.isSafeInteger(atMs) || !Array.isArray(ids) || ids.length > MAX_REQUESTS * 10)
      return undefined;
    return { atMs: atMs as number, ids: ids.map(String) };
  } catch {
    return undefined;
  }
}

/** Newest first; the order of requests of one millisecond is that of their ids. */
export function newestFirst(a: JsonObject, b: JsonObject): number {
  return timeOf(b) - timeOf(a) || (String(a["request_id"]) < String(b["request_id"]) ? 1 : -1);
}

/** When a request of the list began, in milliseconds since 1970. */
export function timeOf(request: JsonObject): number {
  return Date.parse(String(request["started_at"]));
}

/**
 * A page of requests that are known down to a place: older ones are left for the next page, which
 * begins at the cursor. `reached` is absent where there is nothing older. `after` is where the page
 * before ended: of its millisecond, the cursor keeps what all pages have shown.
 */
export function pageOf(
  found: readonly JsonObject[],
  limit: number,
  reached: RequestPlace | undefined,
  after: RequestPlace | undefined,
): JsonObject {
  const known =
    reached === undefined ? found : found.filter((request) => timeOf(request) >= reached.atMs);
  const inOrder = known.toSorted(newestFirst);
  const shown = inOrder.slice(0, limit);
  const last = shown.at(-1);
  if (inOrder.length > limit && last !== undefined) {
    const atMs = timeOf(last);
    const ids = shown
      .filter((request) => timeOf(request) === atMs)
      .map((request) => String(request["request_id"]));
    return { requests: shown, next_cursor: cursorOf(joined({ atMs, ids }, after)) };
  }
  return {
    requests: shown,
    next_cursor: reached === undefined ? null : cursorOf(joined(reached, after)),
  };
}

/** A place with the requests of its millisecond that another place has. */
function joined(place: RequestPlace, other: RequestPlace | undefined): RequestPlace {
  return other?.atMs === place.atMs
    ? { atMs: place.atMs, ids: [...new Set([...other.ids, ...place.ids])] }
    : place;
}

/** Joins the pages of several workers: a worker's memory has more detail than the ledger. */
export function joinRequests(
  values: readonly { readonly value: Record<string, unknown> }[],
  after: RequestPlace | undefined,
): JsonObject {
  const byId = new Map<string, JsonObject>();
  let reached: RequestPlace | undefined;
  let limit = 0;
  for (const { value } of values) {
    limit = Math.max(limit, Number(value["limit"]));
    const cursor =
      typeof value["next_cursor"] === "string" ? placeOfCursor(value["next_cursor"]) : undefined;
    if (cursor !== undefined && (reached === undefined || cursor.atMs > reached.atMs))
      reached = cursor;
    else if (cursor !== undefined && cursor.atMs === reached?.atMs)
      reached = { atMs: cursor.atMs, ids: [...new Set([...reached.ids, ...cursor.ids])] };
    for (const request of value["requests"] as readonly unknown[]) {
      if (!isObject(request)) continue;
      const id = String(request["request_id"]);
      if (byId.get(id)?.["source"] !== "memory") byId.set(id, request);
    }
  }
  return { ...pageOf([...byId.values()], limit, reached, after), limit };
}
