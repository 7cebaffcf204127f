/** What a request refers to of stored responses, and the request with it in place. */

import { isObject } from "@sluice/kit";
import { invalidField } from "@sluice/kit/dialect";
import type {
  JsonDocument,
  JsonObject,
  JsonValue,
  KnownEntries,
  OpenedRequest,
} from "@sluice/contract";
import { refused, shown } from "../request/refusals.ts";
import { historyOf, isWhole, itemsOf, pointedAt, readEntry } from "./entry.ts";
import { isResponseId, isUpstreamItemId, responseOfItem } from "./ids.ts";

/** The maximum of responses that the items of one request refer to. */
const MAX_REFERENCED = 64;

/**
 * The ids of further responses that a request refers to. The latest one comes first and alone: most
 * often it holds the items of all earlier ones.
 */
export function references(document: JsonDocument, known: KnownEntries): readonly string[] {
  const previous = previousOf(document);
  const referred = itemsOf(document.value.input).filter(isReference);
  if (previous === undefined && referred.length === 0) return [];
  if (known.size === 0) {
    if (previous !== undefined) return isResponseId(previous) ? [previous] : [];
    const latest = entryOfItem(referred.at(-1)?.id, known);
    if (latest !== undefined) return [latest];
  }
  const items = itemsById(known);
  const missing = referred.flatMap(({ id }) => {
    const entry = items.has(String(id)) ? undefined : entryOfItem(id, known);
    return entry === undefined || known.has(entry) ? [] : [entry];
  });
  const ids = [...new Set(missing)];
  if (known.size + ids.length > MAX_REFERENCED)
    throw refused(
      "input",
      `input refers to items of more than ${MAX_REFERENCED} responses. Send previous_response_id, or the items themselves.`,
    );
  return ids;
}

/** The entry to look up for an item: its response, or the one that leads to it. */
function entryOfItem(id: JsonValue | undefined, known: KnownEntries): string | undefined {
  const response = responseOfItem(id);
  if (response !== undefined || !isUpstreamItemId(id)) return response;
  return pointedAt(known.get(id)) ?? id;
}

/** The request with its references replaced by what they refer to. */
export function openReferences(
  document: JsonDocument,
  known: KnownEntries,
  isDetached: boolean,
): OpenedRequest {
  const { value } = document;
  const previous = previousOf(document);
  const isPlain = previous === undefined && !itemsOf(value.input).some(isReference);
  // The gateway stores what is stored and goes on without the client: an upstream of this API is
  // asked for neither.
  const unstored = {
    ...(value.store === false ? {} : { store: false }),
    ...(isDetached ? { background: undefined } : {}),
  };
  const background: JsonObject = isDetached ? { background: true } : {};
  if (isPlain) return { document: document.with(unstored), replaced: background, itemsBefore: 0 };
  const history = previous === undefined ? [] : historyFrom(previous, known);
  const items = itemsById(known);
  const own = ownItems(value).map((item, index) =>
    isObject(item) && isReference(item) ? referredItem(item, index, items) : item,
  );
  return {
    document: document.with({
      ...unstored,
      input: [...history, ...own],
      previous_response_id: undefined,
    }),
    replaced:
      previous === undefined ? background : { ...background, previous_response_id: previous },
    itemsBefore: history.length,
  };
}

/** The client's own items. */
function ownItems({ input = null }: JsonObject): readonly JsonValue[] {
  if (Array.isArray(input)) return input as readonly JsonValue[];
  if (input !== null && typeof input !== "string")
    throw invalidField("input", "a string or an array of items");
  return itemsOf(input);
}

function referredItem(
  { id }: JsonObject,
  index: number,
  items: ReadonlyMap<string, JsonObject>,
): JsonObject {
  const found = items.get(String(id));
  if (found !== undefined) return found;
  throw refused(
    `input[${index}].id`,
    `The item ${shown(id)} is not stored: it has expired, was deleted, or belongs to another key. Send the item itself.`,
  );
}

function historyFrom(previous: string, known: KnownEntries): readonly JsonObject[] {
  const stored = readEntry(known.get(previous));
  if (stored !== undefined && isWhole(stored)) return historyOf(stored);
  if (stored !== undefined)
    throw refused(
      "previous_response_id",
      `The response ${shown(previous)} is ${shown(stored.response.status)}. A response can follow one that is completed or incomplete.`,
    );
  throw refused(
    "previous_response_id",
    `Previous response with id '${shown(previous)}' not found: it has expired, was deleted or not stored, or belongs to another key. Send the full history in input.`,
  );
}

function previousOf({ value }: JsonDocument): string | undefined {
  const previous = value.previous_response_id ?? undefined;
  if (previous !== undefined && typeof previous !== "string")
    throw invalidField("previous_response_id", "the id of a response");
  return previous;
}

function isReference({ type, id, role }: JsonObject): boolean {
  // The SDK's type says that `type` may be absent or null.
  const isBare = (type ?? undefined) === undefined && role === undefined && typeof id === "string";
  return type === "item_reference" || isBare;
}

function itemsById(known: KnownEntries): ReadonlyMap<string, JsonObject> {
  const items = new Map<string, JsonObject>();
  for (const entry of known.values()) {
    const stored = readEntry(entry);
    if (stored === undefined) continue;
    for (const item of historyOf(stored)) if (typeof item.id === "string") items.set(item.id, item);
  }
  return items;
}
