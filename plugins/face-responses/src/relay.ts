/**
 * Replies of an upstream of this API: its events as they came, but for what belongs to the gateway.
 * `encrypted_content` is sealed for the key and the deployment; a stored response says so.
 */

import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import type { FaceContext, FaceRelay, GatewayError, JsonObject, JsonValue } from "@sluice/contract";
import { sealNative } from "./envelope.ts";
import { failedBy, idOf, responseOf } from "./reply/response.ts";
import type { ResponsesState } from "./state.ts";

/** The member that is sealed. */
export const SEALED = "encrypted_content";
// JSON may hold U+2028 and U+2029 unescaped: `.`, and `^` and `$` of lines, stop there.
const DATA = /(?<=^|\n)data: ?(\{[^\r\n]*\})(?=\r?(?:\n|$))/g;
const DATA_LINE = new RegExp(DATA.source);
const NUMBER = /"sequence_number"\s*:\s*(\d{1,15})/g;
/** Events with the response as it begins. */
const BEGINNING = /"type"\s*:\s*"response\.(?:created|queued|in_progress)"/;

/** The relay of one reply. */
export class ResponseRelay implements FaceRelay {
  readonly #state: ResponsesState;
  readonly #context: FaceContext;
  /** The data of the event with the response that the client read first, where it was edited. */
  #begun: string | undefined;
  /** The first events, where they were not. */
  #first: string | undefined;
  /** Whether events behind the beginning have come. */
  #isOpen = false;
  /** The last text that was written: it has the last number. */
  #written = "";
  /** What the upstream did not get: the ids that the gateway gave, and metadata. */
  readonly #names: JsonObject;
  readonly #hasNames: boolean;

  constructor(state: ResponsesState, context: FaceContext) {
    this.#state = state;
    this.#context = context;
    const { previous_response_id: previous = null, metadata, background } = state.echo;
    const hasNotes = isObject(metadata) && Object.keys(metadata).length > 0;
    const isDetached = background === true;
    this.#names = {
      // The client got an id before the upstream gave one.
      ...(isDetached ? { id: `resp_${idOf(context)}`, background } : {}),
      ...(previous === null ? {} : { previous_response_id: previous }),
      ...(hasNotes ? { metadata } : {}),
    };
    this.#hasNames = isDetached || previous !== null || hasNotes;
  }

  reply(original: JsonObject): JsonObject {
    const sealed = this.#sealed(original) as JsonObject;
    // A compaction repeats nothing of its request.
    return original.object === "response.compaction" ? sealed : this.#named(sealed);
  }

  shown(reply: JsonObject): JsonObject {
    return this.#state.hasEnvelopes ? reply : (withoutSealed(reply) as JsonObject);
  }

  events(text: string, isBare = false): string {
    if (isBare && !this.#hasNames) {
      // Nothing differs.
      this.#first ??= text;
      this.#isOpen = true;
      this.#written = text;
      return text;
    }
    const { head, rest } = this.#beginning(text);
    const isSealed = !isBare && rest.includes(SEALED);
    const shown = isSealed ? rest.replaceAll(DATA, this.#sealedLine) : rest;
    this.#written = head + shown;
    return this.#written;
  }

  last(end: string): JsonObject | undefined {
    for (const [, data = ""] of end.matchAll(DATA)) {
      const { response } = Members.parse(data) ?? {};
      if (isObject(response)) return this.reply(response);
    }
    return undefined;
  }

  end(end: string, reply?: JsonObject): string {
    if (reply === undefined && !this.#edits(end)) return end;
    return end.replaceAll(DATA, (line, data: string) => {
      const event = Members.parse(data);
      if (!isObject(event?.response)) return line;
      const response = this.shown(reply ?? this.reply(event.response));
      return `data: ${JSON.stringify({ ...event, response })}`;
    });
  }

  failure(error: GatewayError): string {
    const ending = failedBy(error);
    const made = responseOf(this.#state, this.#context, { ending, output: [], usage: null });
    const begun = this.#beginningResponse();
    const { status, error: failure = null } = ending;
    const response = isObject(begun) ? { ...begun, ...EMPTY, status, error: failure } : made;
    const number = Number([...this.#written.matchAll(NUMBER)].at(-1)?.[1] ?? -1) + 1;
    const event = { type: "response.failed", sequence_number: number, response };
    return `event: response.failed\ndata: ${JSON.stringify(event)}\n\n`;
  }

  #beginningResponse(): JsonValue | undefined {
    const [event = ""] = this.#first?.split("\n\n", 1) ?? [];
    const data = this.#begun ?? DATA_LINE.exec(event)?.[1];
    return data === undefined ? undefined : Members.parse(data)?.response;
  }

  /** The events with the response as it begins, as the client gets them, and those behind them. */
  #beginning(text: string): { readonly head: string; readonly rest: string } {
    let head = "";
    let at = 0;
    while (!this.#isOpen) {
      const end = text.indexOf("\n\n", at);
      const event = text.slice(at, end + 2);
      if (end < 0 || !BEGINNING.test(event)) {
        this.#isOpen = at < text.length;
        break;
      }
      head += event.replace(DATA, this.#beginningLine);
      at = end + 2;
    }
    return { head, rest: at === 0 ? text : text.slice(at) };
  }

  readonly #beginningLine = (line: string, data: string): string => {
    this.#begun = data;
    const event = this.#edits(data) ? Members.parse(data) : undefined;
    if (!isObject(event?.response)) return line;
    const response = this.shown(this.reply(event.response));
    if (response === event.response) return line;
    this.#begun = JSON.stringify({ ...event, response });
    return `data: ${this.#begun}`;
  };

  /** Whether a response in a text may differ from what the client gets. */
  #edits(text: string): boolean {
    return this.#hasNames || text.includes(SEALED);
  }

  readonly #sealedLine = (line: string, data: string): string => {
    const event = data.includes(SEALED) ? Members.parse(data) : undefined;
    if (event === undefined) return line;
    const sealed = this.shown(this.#sealed(event) as JsonObject);
    return sealed === event ? line : `data: ${JSON.stringify(sealed)}`;
  };

  /** A response with what the upstream did not get. */
  #named(response: JsonObject): JsonObject {
    return this.#hasNames ? { ...response, ...this.#names } : response;
  }

  /** A value whose texts for the upstream alone are sealed. The same one where it has none. */
  #sealed(value: JsonValue): JsonValue {
    return mapped(value, (text) => sealNative(text, this.#context));
  }
}

const EMPTY: JsonObject = { output: [], usage: null };

/** Items that are nothing without their sealed text: clients need not ask for it. */
const WHOLE = new Set<JsonValue | undefined>(["compaction", "compaction_summary"]);

/** A value without the sealed texts that clients have to ask for. */
function withoutSealed(value: JsonValue): JsonValue {
  return mapped(value, (text, { type }) => (WHOLE.has(type) ? text : undefined));
}

/** The changed text of the member; `undefined`: it is left out. */
type Change = (text: string, item: JsonObject) => string | undefined;

/** A value with other texts of the member, or without it. The same one where nothing differs. */
function mapped(value: JsonValue, change: Change): JsonValue {
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[]).map((each) => mapped(each, change));
    return items.every((each, index) => each === value[index]) ? value : items;
  }
  if (!isObject(value)) return value;
  let isChanged = false;
  const members: Record<string, JsonValue> = {};
  for (const [name, each] of Object.entries(value)) {
    if (each === undefined) continue;
    const made =
      name === SEALED && typeof each === "string" ? change(each, value) : mapped(each, change);
    isChanged ||= made !== each;
    if (made !== undefined) members[name] = made;
  }
  return isChanged ? members : value;
}
