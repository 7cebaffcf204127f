/**
 * Readers of the members of one object of a request. JSON of protocol buffers has two spellings of
 * a name: `maxOutputTokens` and `max_output_tokens` (protobuf.dev/programming-guides/json).
 */

import type { JsonDocument, JsonObject, JsonValue, NativeOnly } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { invalidField, Members } from "@sluice/kit/dialect";

/** A value and its place in the client's body. */
export interface Placed {
  readonly value: JsonValue;
  readonly path: string;
}

/** Names of members in their second spelling: the names are those of the sources. */
const SNAKE = new Map<string, string>();

function snakeOf(name: string): string {
  let snake = SNAKE.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    SNAKE.set(name, snake);
  }
  return snake;
}

/** What a translation leaves out, and what it looks up. */
export class Notes {
  /** The values of the document, for a text that is made of one. */
  readonly exact: Members.ExactValues;
  /** Paths without effect on another model's answer. */
  readonly dropped = new Set<string>();
  /** What only Google's own API can say. */
  readonly only: NativeOnly[] = [];
  /** The paths of it that the translation has no place for. */
  readonly untranslated: string[] = [];

  constructor(document: JsonDocument) {
    this.exact = new Members.ExactValues(document);
  }

  drop(found: Placed | undefined): void {
    if (found !== undefined) this.dropped.add(found.path);
  }

  /** A member that the provider of Google reads in the translation too. */
  keepNative(found: Pick<Placed, "path"> | undefined, what?: string): void {
    if (found === undefined) return;
    const { path } = found;
    this.only.push({ path, what: what ?? `the member ${path.slice(path.lastIndexOf(".") + 1)}` });
  }

  /** A member without a translation. `what` completes "The provider cannot take …". */
  leaveNative(found: Pick<Placed, "path"> | undefined, what?: string): void {
    if (found === undefined) return;
    this.untranslated.push(found.path);
    this.keepNative(found, what);
  }
}

const NO_NAMES: string[] = [];

/** The members of one object. Absent members and null are the same. */
export class Fields {
  readonly path: string;
  readonly notes: Notes;
  readonly #value: JsonObject;
  /** Whether a member may be in the second spelling. */
  readonly #hasSnake: boolean;
  /** The members that were read. A large request has many objects with few members each. */
  #read: string[] = NO_NAMES;

  /** Throws `invalid_field` for a value that is no object. The path of the body is empty. */
  constructor(value: JsonValue | undefined, path: string, notes: Notes) {
    if (!isObject(value)) throw invalidField(path, "an object");
    this.#value = value;
    this.#hasSnake = Object.keys(value).some((name) => name.includes("_"));
    this.path = path;
    this.notes = notes;
  }

  /** An object within this one. */
  inner({ value, path }: Placed): Fields {
    return new Fields(value, path, this.notes);
  }

  /** A member in either spelling; the path has the client's. */
  get(name: string): Placed | undefined {
    const found = this.#find(name);
    if (found === undefined) return undefined;
    return { value: this.#value[found] as JsonValue, path: this.#pathOf(found) };
  }

  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  text(name: string): string | undefined {
    const found = this.#find(name);
    if (found === undefined) return undefined;
    const value = this.#value[found];
    if (typeof value !== "string") throw invalidField(this.#pathOf(found), "a string");
    return value;
  }

  flag(name: string): boolean | undefined {
    const found = this.#find(name);
    if (found === undefined) return undefined;
    const value = this.#value[found];
    if (typeof value !== "boolean") throw invalidField(this.#pathOf(found), "true or false");
    return value;
  }

  /** A number within its bounds; `isWhole` refuses fractions. */
  number(name: string, from: number, to: number, isWhole = false): number | undefined {
    const found = this.get(name);
    if (found === undefined) return undefined;
    const { value, path } = found;
    const isNumber = typeof value === "number" && (!isWhole || Number.isInteger(value));
    if (!isNumber || value < from || value > to)
      throw invalidField(path, `a ${isWhole ? "whole " : ""}number ${bounds(from, to)}`);
    return value;
  }

  object(name: string): Fields | undefined {
    const found = this.get(name);
    return found === undefined ? undefined : this.inner(found);
  }

  /** The items of a list. A single object stands for a list of one, as Google's API takes it. */
  list(name: string): readonly Placed[] | undefined {
    const found = this.get(name);
    if (found === undefined) return undefined;
    const { value, path } = found;
    if (isObject(value)) return [found];
    if (!Array.isArray(value)) throw invalidField(path, "an array");
    return value.map((each: JsonValue, index) => ({ value: each, path: `${path}[${index}]` }));
  }

  /** The items of a list of objects. */
  objects(name: string): readonly Fields[] {
    return (this.list(name) ?? []).map((each) => this.inner(each));
  }

  /** The texts of a list of strings. */
  texts(name: string): readonly string[] | undefined {
    return this.list(name)?.map(({ value, path }) => {
      if (typeof value !== "string") throw invalidField(path, "a string");
      return value;
    });
  }

  /** Notes every member that no call has read: Google's own API alone can say it. */
  end(): void {
    for (const name of Object.keys(this.#value)) {
      if (this.#read.includes(name) || this.#value[name] === null) continue;
      this.#mark(name);
      this.notes.leaveNative({ path: this.#pathOf(name) });
    }
  }

  /**
   * The spelling in which the object has a member. Throws `invalid_field` for both: which one the
   * upstream reads is not known, and limits and guardrails hold for one.
   */
  #find(name: string): string | undefined {
    const snake = this.#hasSnake ? snakeOf(name) : name;
    const other = snake !== name && this.#has(snake) ? snake : undefined;
    const found = this.#has(name) ? name : other;
    if (found === undefined) return undefined;
    if (other !== undefined && other !== found)
      throw invalidField(this.#pathOf(found), `one member: ${name} or ${snake}`);
    this.#mark(found);
    return found;
  }

  #has(name: string): boolean {
    const value = this.#value[name];
    return value !== undefined && value !== null && Object.hasOwn(this.#value, name);
  }

  #mark(name: string): void {
    if (this.#read === NO_NAMES) this.#read = [name];
    else if (!this.#read.includes(name)) this.#read.push(name);
  }

  #pathOf(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }
}

function bounds(from: number, to: number): string {
  return to === Number.MAX_SAFE_INTEGER ? `from ${from} on` : `from ${from} to ${to}`;
}
