/** Every text of a body in every JSON dialect, and the body with replaced texts. */

import type { JsonDocument, JsonObject, JsonValue, Operation } from "@sluice/contract";
import { withWritten } from "../../json/document.ts";
import { ExactValues } from "../../json/numbers/exact.ts";
import { putMember } from "../../json/parse.ts";
import * as Stages from "../../stages.ts";
import type { Ending } from "../../state/late-signal.ts";
import { beginNow } from "../../transport/turns.ts";
import { PathCopy } from "./at-path.ts";
import type { BodyText } from "./body-text.ts";
import { joinedMessages } from "./join.ts";
import type { TooMany } from "./leaf-texts.ts";
import { MEMBER_PARTS } from "./text-parts.ts";
import { withoutTokens } from "./token-texts.ts";
import { isUnreadable, readTools } from "./unreadable.ts";
import { Walk } from "./walk.ts";

/** The texts of a body. */
export interface BodyTexts {
  readonly texts: readonly BodyText[];
  /**
   * Places of content that no guardrail of texts can check: tokens and encoded files. Pictures and
   * sounds are not among them. Each place is listed once, in the order of the body.
   */
  readonly opaque: readonly string[];
}

/** The joining of consecutive texts. */
export type JoinTexts = "blocks" | "messages";

/**
 * The texts of a body. `operation` decides about a bare string: a text to embed, or a part of a
 * conversation. Consecutive blocks of text are listed again as one text. With `join: "messages"`,
 * all texts of a role are too. `tooMany`: makes the error of a body with more texts than are found
 * in one turn of the event loop. Absent: any number is found.
 */
export function bodyTexts(
  body: JsonObject,
  operation: Operation,
  join: JoinTexts = "blocks",
  tooMany?: TooMany,
): BodyTexts {
  const walk = new Walk(tooMany);
  walk.names(body, "body", [], "parameters");
  for (const [name, member] of Object.entries(body)) {
    if (member === undefined) continue;
    const read = name === "tools" ? readTools(member) : undefined;
    const value = read?.tools ?? member;
    for (const place of read?.opaque ?? []) walk.opaque.add(place);
    const isEmbedding = operation === "embeddings" && name === "input";
    if (isUnreadable(name, value)) walk.opaque.add(name);
    walk.member(value, name, "body", {
      path: [name],
      part: isEmbedding ? "embedding" : (MEMBER_PARTS[name] ?? "parameters"),
    });
  }
  const { texts } = walk;
  return {
    texts: join === "messages" ? [...texts, ...joinedMessages(texts)] : texts,
    opaque: [...walk.opaque],
  };
}

/**
 * The document with edited texts in their places; the same document without edits. The first stage
 * of the work is done at once. Rejects with the reason of an ending that comes between two turns.
 */
export async function withTexts(
  document: JsonDocument,
  edits: ReadonlyMap<BodyText, string>,
  ending: Ending,
): Promise<JsonDocument> {
  return edits.size === 0 ? document : beginNow(editing(document, edits), ending);
}

function* editing(
  document: JsonDocument,
  edits: ReadonlyMap<BodyText, string>,
): Stages.Of<JsonDocument> {
  const { value } = document;
  const exact = new ExactValues(document);
  yield* exact.prepare(value);
  const changes = yield* changesOf(value, edits);
  const written = exact.of(value) as JsonObject;
  if (written === value) return document.with(changes);
  return withWritten(document, changes, yield* changesOf(written, edits));
}

/** The members of a value that have edited texts. */
function* changesOf(
  value: JsonObject,
  edits: ReadonlyMap<BodyText, string>,
): Stages.Of<Record<string, JsonValue | undefined>> {
  const copy = new PathCopy(value);
  const names = new Set<string>();
  const clock = new Stages.Clock();
  for (const [{ path, write }, text] of edits) {
    names.add(path[0] as string);
    copy.set(path, write === undefined ? text : write(text));
    if (clock.isOver()) yield;
  }
  const changed = copy.value as JsonObject;
  const changes: Record<string, JsonValue | undefined> = {};
  for (const name of names) {
    const member = changed[name] ?? null;
    putMember(changes, name, ANSWERS.has(name) ? withoutTokens(member) : member);
  }
  return changes;
}

/** Members of replies that may have log probabilities. */
const ANSWERS: ReadonlySet<string> = new Set(["choices", "candidates", "output"]);
