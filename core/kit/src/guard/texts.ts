/** Every text of a body, wherever it stands, in every JSON dialect; and the body with other texts in their places. */

import type { JsonDocument, JsonObject, JsonValue, Operation } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { setAt } from "./at-path.ts";
import type { BodyText } from "./body-text.ts";
import { joinedMessages } from "./join.ts";
import { MEMBER_PARTS } from "./text-parts.ts";
import { Walk } from "./walk.ts";

/** What a body holds. */
export interface BodyTexts {
  readonly texts: readonly BodyText[];
  /** Places of content that no guardrail of texts can judge: tokens and encoded files. Pictures and sounds are none of it. */
  readonly opaque: readonly string[];
}

/** How texts are read that follow each other. */
export type JoinTexts = "blocks" | "messages";

/** Members of a body that may hold tokens in place of a text. */
const TOKEN_MEMBERS = new Set(["input", "prompt", "context"]);

/**
 * The texts of a body. `operation` says what a bare string means: an input is text to embed, or part of a conversation. Blocks of text that
 * follow each other are there once more as one; with `join: "messages"` so are all texts of a role.
 */
export function bodyTexts(body: JsonObject, operation: Operation, join: JoinTexts = "blocks"): BodyTexts {
  const walk = new Walk();
  walk.names(body, "body", [], "parameters");
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    const isEmbedding = operation === "embeddings" && name === "input";
    if (TOKEN_MEMBERS.has(name) && holdsTokens(value)) walk.opaque.push(name);
    walk.member(value, name, "body", { path: [name], part: isEmbedding ? "embedding" : (MEMBER_PARTS[name] ?? "parameters") });
  }
  const { texts, opaque } = walk;
  return { texts: join === "messages" ? [...texts, ...joinedMessages(texts)] : texts, opaque };
}

/** Tokens, or lists of them. */
function holdsTokens(value: JsonValue): boolean {
  return Array.isArray(value) && (value as readonly JsonValue[]).some((item) => typeof item === "number" || Array.isArray(item));
}

/** The document with edited texts in their places; the same document when there are none. */
export function withTexts(document: JsonDocument, edits: ReadonlyMap<BodyText, string>): JsonDocument {
  if (edits.size === 0) return document;
  const { value } = document;
  const changes: Record<string, JsonValue | undefined> = {};
  for (const [{ path, write }, text] of edits) {
    const [name, ...rest] = path as [string, ...(string | number)[]];
    const before = changes[name] ?? value[name] ?? null;
    changes[name] = setAt(before, rest, write === undefined ? text : write(text));
  }
  for (const name of Object.keys(changes)) changes[name] = withoutTokens(changes[name]);
  return document.with(changes);
}

/** Choices whose text was edited lose what tells the old one token by token. */
function withoutTokens(value: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(value)) return value;
  return (value as readonly JsonValue[]).map((item) =>
    isObject(item) && isObject(item.logprobs) ? { ...item, logprobs: null } : item,
  );
}
