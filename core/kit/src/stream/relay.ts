/**
 * The texts of a stream in the client's own dialect: the upstream's events as they came, but for
 * the name of the model.
 */

import type { NativeReplies, UpstreamEvent } from "@sluice/contract";
import { replaceAt } from "../json/edits/replace-at.ts";
import { isObject } from "../json/narrow.ts";
import { jsonIn } from "../json/parse.ts";

/** What the events of a batch are in the client's own dialect. */
export interface RelayedText {
  readonly dialect: string;
  /** Whole events. */
  readonly text: string;
  /**
   * The end mark, where it has arrived. It is written when the rows of the exchange are durable.
   */
  readonly end: string;
  /** Whether the text is ASCII. `false` where that is not known. */
  readonly isAscii: boolean;
  /** Whether no event has the word `edits` of the dialect. Absent: that is not known. */
  readonly isBare?: boolean;
}

/** How the replies of one attempt are relayed. */
export interface RelayRules extends NativeReplies {
  /** The client's dialect. */
  readonly dialect: string;
  /** The name of the model that the client reads. */
  readonly model: string;
}

/** A name of the model in the events of one form, as it is written there. */
interface ModelName {
  readonly from: string;
  readonly to: string;
}

/**
 * What an added event means for events that differ from it in the insides of strings alone. `same`:
 * `run` takes those that are like it, and those that are like the events before it. `other`: `run`
 * takes those that are like it alone. `none`: `run` takes none.
 */
export type RunnableForm = "same" | "other" | "none";

/** What follows the name of a member that has a text as its value. */
const NAMED_VALUE = /^\s*:\s*"/;
// oxlint-disable-next-line no-control-regex -- they are ASCII too.
const ASCII = /^[\u0000-\u007f]*$/;

/** Gathers the texts of one stream. */
export class Relay {
  readonly dialect: string;
  readonly #rules: RelayRules;
  #text = "";
  #end = "";
  #isAscii = true;
  #isBare = true;
  /** Whether the last event has the word `edits`: then those of its form have it. */
  #hasWord = false;
  /** Whether an event has come that only the last ones are like. */
  #isEnding = false;
  #name: ModelName | undefined;

  /** The ends of the names of the members with the model, as they are written. */
  readonly #leaves: readonly string[];
  readonly #lastName: string | undefined;

  constructor(rules: RelayRules) {
    this.dialect = rules.dialect;
    this.#rules = rules;
    // The search begins with a letter: quotes are frequent in JSON, and each would be compared.
    this.#leaves = [...new Set(rules.modelAt.map((path) => `${path.at(-1)}"`))];
    this.#lastName = rules.lastHas === undefined ? undefined : `${rules.lastHas.at(-1)}"`;
  }

  /** Whether nothing waits. */
  get isEmpty(): boolean {
    return this.#text === "" && this.#end === "";
  }

  /**
   * Adds one event. `isEnd`: the reply ended with it. `isAscii`: the event is known to be ASCII.
   */
  event({ event, data }: UpstreamEvent, isEnd: boolean, isAscii = false): RunnableForm {
    // A bare text is a mark of a proxy: the dialects have objects alone.
    if (!data.trimStart().startsWith("{")) return "none";
    const { data: shown, name } = this.#named(data);
    const text = eventText(event, shown);
    const { edits } = this.#rules;
    const hasWord = edits !== undefined && data.includes(edits);
    if (hasWord) this.#isBare = false;
    this.#isEnding ||= this.#isLast(data);
    if (isEnd || this.#isEnding) this.#end += text;
    else {
      this.#text += text;
      // The texts as they came are flat: what is made of them would be copied for the test.
      this.#isAscii &&= isAscii || (ASCII.test(data) && ASCII.test(event ?? ""));
      this.#isAscii &&= name === undefined || ASCII.test(name.to);
    }
    const isLikeBefore = name?.from === this.#name?.from && hasWord === this.#hasWord;
    this.#name = name;
    this.#hasWord = hasWord;
    if (name !== undefined && !isOnce(data, name.from)) return "none";
    return isLikeBefore ? "same" : "other";
  }

  /** Adds the text of events that have the form of the last one. */
  run(wire: string, isAscii: boolean): void {
    const name = this.#name;
    const text = name === undefined ? wire : wire.split(name.from).join(name.to);
    if (this.#isEnding) {
      this.#end += text;
      return;
    }
    this.#text += text;
    if (this.#hasWord) this.#isBare = false;
    this.#isAscii &&= isAscii && (name === undefined || ASCII.test(name.to));
  }

  /** Takes what waits; `undefined` for nothing. */
  take(): RelayedText | undefined {
    if (this.isEmpty) return undefined;
    const { dialect } = this;
    const taken: RelayedText = {
      dialect,
      text: this.#text,
      end: this.#end,
      isAscii: this.#isAscii,
      ...(this.#rules.edits === undefined ? {} : { isBare: this.#isBare }),
    };
    this.#text = "";
    this.#end = "";
    this.#isAscii = true;
    this.#isBare = true;
    return taken;
  }

  /** Whether an event has the text that only the last ones have. */
  #isLast(data: string): boolean {
    const name = this.#lastName;
    if (name === undefined || this.#isEnding) return false;
    let at = data.indexOf(name);
    while (at > 0 && !(data[at - 1] === '"' && NAMED_VALUE.test(data.slice(at + name.length))))
      at = data.indexOf(name, at + 1);
    return at > 0 && hasTextAt(jsonIn(data), this.#rules.lastHas ?? []);
  }

  /** An event with the client's name of the model, and where that differs from the upstream's. */
  #named(data: string): { readonly data: string; readonly name: ModelName | undefined } {
    const { modelAt, model } = this.#rules;
    // Most events have no such member at all.
    if (!this.#leaves.some((leaf) => data.includes(leaf))) return { data, name: undefined };
    for (const path of modelAt) {
      const edit = replaceAt(data, path, model);
      if (edit === undefined) continue;
      // The search in a run is three times as fast without the quote, of which there are many.
      return { data: edit.text, name: { from: edit.from.slice(1), to: edit.to.slice(1) } };
    }
    return { data, name: undefined };
  }
}

/** An event as it goes over the wire. In JSON, a line break stands between tokens alone. */
function eventText(event: string | undefined, data: string): string {
  const name = event === undefined ? "" : `event: ${event}\n`;
  return `${name}data: ${data.includes("\n") ? data.replaceAll("\n", " ") : data}\n\n`;
}

function isOnce(text: string, part: string): boolean {
  const at = text.indexOf(part);
  return at >= 0 && !text.includes(part, at + 1);
}

/** Whether a text stands at a path of names. Of an array on the way each object counts. */
function hasTextAt(value: unknown, path: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((each) => isObject(each) && hasTextAt(each, path));
  const [name, ...rest] = path;
  if (name === undefined) return typeof value === "string";
  return isObject(value) && hasTextAt(value[name], rest);
}
