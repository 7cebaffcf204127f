/** The order of what a reply says, where its client must return it so. */

import type { JsonObject } from "@sluice/contract";

/** Kinds of parts, in the order in which the members of a message stand for them. */
const KINDS = ["thinking", "text", "provider", "tool_use"] as const;

/** A part of a reply: a text has its length. */
export type ReplyPart =
  | { readonly type: Exclude<(typeof KINDS)[number], "text"> }
  | { readonly type: "text"; readonly length: number };

/** `content_blocks` of a message, where the order is not that of its members. */
export function contentOrder(parts: readonly ReplyPart[]): JsonObject {
  const isUsual = parts.every(
    ({ type }, at) => KINDS.indexOf(type) >= KINDS.indexOf(parts[at - 1]?.type ?? "thinking"),
  );
  if (isUsual) return {};
  const counts = { thinking: 0, provider: 0, tool_use: 0 };
  const order = parts.map((part): JsonObject =>
    part.type === "text" ? { ...part } : { type: part.type, index: counts[part.type]++ },
  );
  return { content_blocks: order };
}
