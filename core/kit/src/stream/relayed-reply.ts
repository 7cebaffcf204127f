/** Whole replies in the client's own dialect, beside their translation. */

import type { JsonDocument, JsonObject } from "@sluice/contract";
import { PathCopy } from "../guard/document/at-path.ts";
import { asBuffer } from "../json/as-buffer.ts";
import { documentOf, parsedDocument, writtenDocument } from "../json/document.ts";
import { editedBody } from "../json/edits/edited-bytes.ts";
import { isObject } from "../json/narrow.ts";
import { preparedJson } from "../json/prepared.ts";
import { replaceAt, stringAt } from "../json/edits/replace-at.ts";
import type { RelayRules } from "./relay.ts";

/** A reply as its upstream wrote it, but for the name of the model. */
export interface OriginalReply {
  readonly dialect: string;
  readonly document: JsonDocument;
}

/** By the document of the translation: a step that edits the reply replaces it. */
const ORIGINALS = new WeakMap<JsonDocument, OriginalReply>();

/** Keeps the upstream's reply for clients of its dialect, with the client's name of the model. */
export function relayWhole(translated: JsonDocument, body: Uint8Array, rules: RelayRules): void {
  const document = renamedLarge(body, rules) ?? renamedText(body, rules);
  keepOriginal(translated, { dialect: rules.dialect, document });
}

function renamedText(body: Uint8Array, { modelAt, model }: RelayRules): JsonDocument {
  const text = asBuffer(body).toString("utf8");
  const edit = modelAt.map((path) => replaceAt(text, path, model)).find((each) => each);
  return documentOf(edit?.text ?? text, edit === undefined ? body : undefined);
}

/** A reply that was read already: it is neither read again nor copied. `undefined` for others. */
function renamedLarge(body: Uint8Array, { modelAt, model }: RelayRules): JsonDocument | undefined {
  const { text = "", value, members } = preparedJson(body) ?? {};
  if (!isObject(value)) return undefined;
  const json = JSON.stringify(model);
  const place = modelAt
    .map((path) => stringAt(text, path, json, members))
    .find((each) => each !== undefined);
  if (place === undefined) return parsedDocument(text, value, body, members);
  const renamed = new PathCopy(value);
  renamed.set(place.path, model);
  return editedBody(body, text, place, json, renamed.value as JsonObject);
}

/** Keeps an original that is there already: that of a stored reply. */
export function keepOriginal(translated: JsonDocument, original: OriginalReply): void {
  ORIGINALS.set(translated, original);
}

/** The original of a translation; `undefined` for an edited reply, and for any other one. */
export function originalOf(translated: JsonDocument): OriginalReply | undefined {
  return ORIGINALS.get(translated);
}

/**
 * The translation without its original, for a step that read the translation alone: what it did not
 * read must not reach the client.
 */
export function translationOf(document: JsonDocument): JsonDocument {
  return ORIGINALS.has(document) ? writtenDocument(document.value) : document;
}
