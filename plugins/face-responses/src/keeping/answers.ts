/** Answers to requests for stored responses: read, delete, input items, cancel. */

import type { ClientRequest, JsonObject, KeptAnswer } from "@sluice/contract";
import { refused, shown } from "../request/refusals.ts";
import { readEntry, type StoredResponse } from "./entry.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** Answers a request by its method and the end of its path. */
export function answer(client: ClientRequest, entry: JsonObject): KeptAnswer {
  const stored = readEntry(entry) ?? { response: {}, input: [], hasEvents: false };
  const { response } = stored;
  const query = queryOf(client);
  if (client.path.endsWith("/input_items")) return { document: inputItems(stored, query) };
  if (client.path.endsWith("/cancel")) return cancelled(stored);
  if (client.method === "DELETE")
    return {
      document: { id: response.id ?? null, object: "response", deleted: true },
      deletes: true,
    };
  const stream = query.get("stream") ?? "false";
  if (stream !== "true" && stream !== "false")
    throw refused("stream", "stream must be true or false.");
  return stream === "true" ? events(stored, query) : { document: response };
}

/** Parameters that stand once: with two, this gateway and a proxy could read different ones. */
const SINGLE = ["stream", "starting_after", "limit", "order", "after", "before"] as const;

function queryOf(client: ClientRequest): URLSearchParams {
  const query = new URLSearchParams(client.query);
  const repeated = SINGLE.find((name) => query.getAll(name).length > 1);
  if (repeated === undefined) return query;
  throw refused(repeated, `The query parameter ${repeated} is repeated. Send it once.`);
}

function cancelled({ response }: StoredResponse): KeptAnswer {
  if (response.background !== true)
    throw refused(
      "response_id",
      "Only a response that was created with background: true can be cancelled.",
    );
  return { document: response, ends: true };
}

function events({ response, hasEvents }: StoredResponse, query: URLSearchParams): KeptAnswer {
  if (!hasEvents)
    throw refused(
      "stream",
      "Only a response that was created with background: true and stream: true has events. Read it without stream.",
    );
  const text = query.get("starting_after") ?? "-1";
  const eventsAfter = Number(text);
  if (!/^(?:-1|\d{1,15})$/.test(text))
    throw refused("starting_after", "starting_after must be the sequence_number of an event.");
  return { document: response, eventsAfter };
}

/** A page of the items that a response was made of, the latest first. */
function inputItems({ input }: StoredResponse, query: URLSearchParams): JsonObject {
  const limit = limitIn(query);
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw refused("order", "order must be asc or desc.");
  const items = order === "asc" ? input : input.toReversed();
  const from = cursorIn(query, "after", items);
  const to = cursorIn(query, "before", items);
  const range = items.slice(from === undefined ? 0 : from + 1, to ?? items.length);
  const data = range.slice(0, limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: range.length > data.length,
  };
}

function limitIn(query: URLSearchParams): number {
  const text = query.get("limit");
  if (text === null) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw refused("limit", `limit must be a whole number from 1 to ${MAX_LIMIT}.`);
}

/** The place of the item that a cursor names. */
function cursorIn(
  query: URLSearchParams,
  name: string,
  items: readonly JsonObject[],
): number | undefined {
  const id = query.get(name);
  if (id === null) return undefined;
  const index = items.findIndex((item) => item.id === id);
  if (index >= 0) return index;
  throw refused(name, `${name} names the item ${shown(id)}, which the response has not.`);
}
