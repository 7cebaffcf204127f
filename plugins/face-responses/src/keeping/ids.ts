/** Ids of responses and of their items: each item's id names its response. */

/** Ids of the gateway, and those of an upstream whose reply was relayed: they are longer. */
const RESPONSE = /^resp_[0-9A-Za-z_-]{8,120}$/;
const ITEM = /^[a-z]{1,8}_([0-9a-f]{32})\d{4,6}$/;
const INPUT_ITEM = /^[a-z]{1,8}_([0-9A-Za-z_-]{8,120})i\d{4,6}$/;
const UPSTREAM_ITEM = /^[a-z]{1,8}_[0-9A-Za-z_-]{8,120}$/;

/** Whether a value has the form of a response's id. */
export function isResponseId(value: unknown): value is string {
  return typeof value === "string" && RESPONSE.test(value);
}

/** A segment of a path without its escapes; one that is not well encoded stands for itself. */
export function decoded(segment: string | undefined): string | undefined {
  try {
    return segment?.includes("%") === true ? decodeURIComponent(segment) : segment;
  } catch {
    return segment;
  }
}

/** The response that an item belongs to; `undefined` for an id that names none. */
export function responseOfItem(id: unknown): string | undefined {
  if (typeof id !== "string") return undefined;
  const [, ids] = ITEM.exec(id) ?? INPUT_ITEM.exec(id) ?? [];
  return ids === undefined ? undefined : `resp_${ids}`;
}

/** Whether an id may be one that an upstream gave to an item: a pointer leads to its response. */
export function isUpstreamItemId(id: unknown): id is string {
  return typeof id === "string" && UPSTREAM_ITEM.test(id) && responseOfItem(id) === undefined;
}

/** The id of an input item that came without one. `index`: its place among the items. */
export function inputItemId(responseId: string, prefix: string, index: number): string {
  return `${prefix}_${responseId.slice("resp_".length)}i${String(index).padStart(4, "0")}`;
}
