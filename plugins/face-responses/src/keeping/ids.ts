/** Ids of responses and of their items: each item's id names its response. */

const RESPONSE = /^resp_[0-9a-f]{32}$/;
const ITEM = /^[a-z]{1,8}_([0-9a-f]{32})i?\d{4,6}$/;

/** Whether a value has the form of a response's id. */
export function isResponseId(value: unknown): value is string {
  return typeof value === "string" && RESPONSE.test(value);
}

/** The response that an item belongs to; `undefined` for an id that no response gave out. */
export function responseOfItem(id: unknown): string | undefined {
  const [, ids] = typeof id === "string" ? (ITEM.exec(id) ?? []) : [];
  return ids === undefined ? undefined : `resp_${ids}`;
}

/** The id of an input item that came without one. `index`: its place among the items. */
export function inputItemId(responseId: string, prefix: string, index: number): string {
  return `${prefix}_${responseId.slice("resp_".length)}i${String(index).padStart(4, "0")}`;
}
