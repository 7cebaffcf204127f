/** Every text of a body, wherever it stands, in every JSON dialect: a walk over all strings that knows which of them are no texts. */

import type { JsonDocument, JsonObject, JsonValue, Operation, TextPart } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { type JsonPath, setAt } from "./at-path.ts";
import type { BodyText } from "./body-text.ts";
import { plainEscapes } from "./escapes.ts";
import { isJoinable, joinedMessages, joinedTexts } from "./join.ts";
import { INNER_PARTS, MEDIA_FORMATS, MEMBER_PARTS, ROLE_PARTS, TEXT_FORMATS, WORDS } from "./text-parts.ts";

/** What a body holds. */
export interface BodyTexts {
  readonly texts: readonly BodyText[];
  /** Places of content that no guardrail of texts can judge: tokens and encoded files. Pictures and sounds are none of it. */
  readonly opaque: readonly string[];
}

/** How texts are read that follow each other. */
export type JoinTexts = "blocks" | "messages";

/** Nested deeper than this is no body of any dialect. */
const MAX_DEPTH = 100;

/**
 * The texts of a body. `operation` says what a bare string means: an input is text to embed, or part of a conversation. Blocks of text that
 * follow each other are there once more as one; with `join: "messages"` so are all texts of a role.
 */
export function bodyTexts(body: JsonObject, operation: Operation, join: JoinTexts = "blocks"): BodyTexts {
  const walk = new Walk();
  for (const [name, value] of Object.entries(body)) {
    if (WORDS.has(name) || value === undefined) continue;
    let part = MEMBER_PARTS[name] ?? "parameters";
    if (operation === "embeddings") {
      if (name === "input") part = "embedding";
      else if (name === "data") continue;
    }
    if (name === "metadata") walk.names(value, [name]);
    if (operation === "embeddings" && name === "input") walk.inputs(value);
    else walk.value(value, [name], part, name);
  }
  const { texts, opaque } = walk;
  return { texts: join === "messages" ? [...texts, ...joinedMessages(texts)] : texts, opaque };
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

class Walk {
  readonly texts: BodyText[] = [];
  readonly opaque: string[] = [];

  /** Inputs to embed: texts, or tokens, which nobody can read here. */
  inputs(value: JsonValue): void {
    if (typeof value === "string") this.#add(value, ["input"], "embedding");
    else if (Array.isArray(value)) {
      for (const [index, item] of (value as readonly JsonValue[]).entries()) {
        if (typeof item === "string") this.#add(item, ["input", index], "embedding");
        else if (isObject(item)) this.value(item, ["input", index], "embedding", "input");
        else {
          this.opaque.push("input");
          return;
        }
      }
    }
  }

  value(value: JsonValue, path: JsonPath, part: TextPart, key: string): void {
    if (path.length > MAX_DEPTH) {
      this.opaque.push(String(path[0]));
      return;
    }
    if (typeof value === "string") this.#text(value, path, part, key);
    else if (typeof value === "number") this.#number(value, path, part);
    else if (Array.isArray(value)) {
      this.#list(value as readonly JsonValue[], path, part, key);
    } else if (isObject(value)) this.#object(value, path, part);
  }

  #object(value: JsonObject, path: JsonPath, outer: TextPart): void {
    let part = outer;
    if (typeof value.role === "string") part = ROLE_PARTS[value.role] ?? (outer === "content" ? "content" : "user");
    // A reply's own message speaks as the assistant; what is judged is its content.
    if (outer === "content") part = "content";
    if (value.type === "tool_result" || value.type === "function_call_output" || "functionResponse" in value) part = "tool";
    if (this.#media(value, path, part)) return;
    if (part === "tools" || part === "parameters") this.names(value.properties, [...path, "properties"]);
    const isCall = typeof value.arguments === "string" || isObject(value.args) || value.type === "tool_use";
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined || member === null) continue;
      // In the arguments of a call and in a schema the names are anybody's.
      const isNamed = part === "arguments" || part === "tools";
      if (!isNamed && typeof member === "string" && WORDS.has(key) && PROTOCOL.test(member)) continue;
      let inner = part;
      if (part !== "tools" && part !== "arguments") inner = INNER_PARTS[key] ?? part;
      if (isCall && key === "input") inner = "arguments";
      if (inner === "arguments" || inner === "documents" || path[0] === "metadata") this.names(member, [...path, key]);
      // What a reply says of its tokens goes when its text is edited.
      if (key === "logprobs" && part === "content") continue;
      this.value(member, [...path, key], inner, key);
    }
  }

  /** Content that is no text. Returns whether the walk is done with the object. */
  #media(value: JsonObject, path: JsonPath, part: TextPart): boolean {
    const type = value.media_type ?? value.mime_type ?? value.mimeType;
    if (typeof value.data === "string" && (typeof type === "string" || typeof value.format === "string")) {
      const isPlain = value.type === "text";
      if (isPlain) this.#add(value.data, [...path, "data"], "documents");
      else if (typeof type === "string" && isTextual(type)) this.#encoded(value.data, [...path, "data"], "");
      else if (typeof value.format !== "string" && !MEDIA.test(String(type))) this.opaque.push(pathText(path));
      return true;
    }
    // Of a sound that was made, what is said in it.
    if (typeof value.data === "string" && typeof value.transcript === "string") {
      this.#add(value.transcript, [...path, "transcript"], part);
      return true;
    }
    if (isObject(value.source) && typeof value.source.bytes === "string" && typeof value.format === "string") {
      const { format, source } = value;
      if (typeof value.name === "string") this.#add(value.name, [...path, "name"], "names");
      if (TEXT_FORMATS.has(format)) this.#encoded(String(source.bytes), [...path, "source", "bytes"], "");
      else if (!MEDIA_FORMATS.has(format)) this.opaque.push(pathText(path));
      return true;
    }
    if (typeof value.file_data === "string") {
      this.#text(value.file_data, [...path, "file_data"], "documents", "file_data");
      if (typeof value.filename === "string") this.#add(value.filename, [...path, "filename"], "names");
      return true;
    }
    return false;
  }

  #text(value: string, path: JsonPath, part: TextPart, key: string): void {
    if (value === "") return;
    const dataUrl = DATA_URL.exec(value);
    if (dataUrl !== null) {
      const [prefix, named = "", parameters = ""] = dataUrl;
      const type = named.trim().toLowerCase();
      const isEncoded = /;\s*base64\s*$/i.test(parameters);
      if (MEDIA.test(type)) return;
      if (!isTextual(type) || OTHER_CHARSET.test(parameters)) this.opaque.push(pathText(path));
      else if (isEncoded) this.#encoded(value.slice(prefix.length), path, prefix);
      else {
        const write = (text: string): string => prefix + encodeURIComponent(text);
        this.texts.push({ path, part: "documents", text: decodeUri(value.slice(prefix.length)), write });
      }
      return;
    }
    // A string of arguments is JSON: its escapes are read as what they mean.
    const text = (part === "arguments" && key === "arguments") || key === "partial_json" ? plainEscapes(value) : value;
    this.#add(text, path, part);
  }

  /** A text in base64. */
  #encoded(base64: string, path: JsonPath, prefix: string): void {
    const bytes = Buffer.from(base64, "base64");
    const text = bytes.toString("utf8");
    // In UTF-16 and UTF-32 every other byte of a Latin letter is 0; a mark at the beginning may say so.
    if (text.includes("\0") || /^(?:\ufffd\ufffd)/.test(text)) this.opaque.push(pathText(path));
    const write = (edited: string): string => prefix + Buffer.from(edited, "utf8").toString("base64");
    this.texts.push({ path, part: "documents", text, write });
  }

  /** A long number that somebody wrote may be a card's. */
  #number(value: number, path: JsonPath, part: TextPart): void {
    if (NUMBERED.has(part) && Math.abs(value) >= SHORTEST_NUMBER)
      this.texts.push({ path, part, text: String(value), isFixed: true, isBare: true });
  }

  #add(text: string, path: JsonPath, part: TextPart): void {
    if (text !== "") this.texts.push({ path, part, text });
  }

  /** Blocks of text that follow each other are one text to a model. */
  #list(items: readonly JsonValue[], path: JsonPath, part: TextPart, key: string): void {
    let run: BodyText[] = [];
    const flush = (): void => {
      if (run.length > 1) this.texts.push(...joinedTexts(run));
      run = [];
    };
    for (const [index, item] of items.entries()) {
      const place = [...path, index];
      const before = this.texts.length;
      this.value(item, place, part, key);
      if (!isObject(item) || typeof item.text !== "string") {
        flush();
        continue;
      }
      for (let at = before; at < this.texts.length; at++) {
        const text = this.texts[at]!;
        if (text.path.length === place.length + 1 && text.path.at(-1) === "text" && isJoinable(text)) run.push(text);
      }
    }
    flush();
  }

  /** The names of members that are anybody's are read by the model as well. */
  names(value: JsonValue | undefined, path: JsonPath): void {
    if (!isObject(value)) return;
    const text = Object.keys(value).join("\n");
    if (text !== "") this.texts.push({ path, part: "tools", text, isFixed: true });
  }
}

/** What a word of the protocol, an id or a signature looks like. Anything else in its place is a text. */
const PROTOCOL = /^[\w.:/+=-]*$/;

/** Parts in which a number may be anything. */
const NUMBERED: ReadonlySet<TextPart> = new Set<TextPart>(["arguments", "tool", "documents"]);
const SHORTEST_NUMBER = 1_000_000;

/** Pictures and sounds: no texts, and no business of a guardrail of texts. */
const MEDIA = /^(?:image|audio|video)\//;

/** As URL parsers read it, who take any case and pass over blanks (fetch.spec.whatwg.org, data URLs). */
const DATA_URL = /^\s*data:([^;,]*)((?:;[^,;]*)*),/i;
const OTHER_CHARSET = /;\s*charset\s*=\s*"?(?!utf-?8\b|us-ascii\b)/i;

function isTextual(type: string): boolean {
  return type === "" || type.startsWith("text/") || /^application\/(?:[\w.-]+\+)?(?:json|xml|yaml)$/.test(type);
}

function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function pathText(path: JsonPath): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
    .join("")
    .slice(1);
}
