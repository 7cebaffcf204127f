/**
 * The shapes of the newest requests: route, model, key and size, no texts. An edit is tried on them before it is made. They lie in
 * arrays of numbers, with names by their ids, so that a request leaves no object behind: see decisions/2026-11-20-heap.md.
 */

import type { Identity } from "@sluice/spec";

/** What is special about a request, as bits. */
export const SHAPE = { stream: 1, tools: 2, images: 4 } as const;

/** What of an identity decides about models. */
export type ShapeKey = Pick<Identity, "kind" | "keyId" | "models" | "teamModels">;

/** A request as far as a configuration decides about it. */
export interface RequestShape {
  readonly method: string;
  /** The route's path, as the pipeline writes it. */
  readonly path: string;
  /** The model that was asked for; empty where a request names none. */
  readonly model: string;
  /** The provider that a native request went to, else empty. */
  readonly provider: string;
  readonly key: ShapeKey;
  /** Bits of `SHAPE`. */
  readonly flags: number;
  /** Tokens of the longest prompt among those alike; `undefined` when unknown. */
  readonly promptTokens: number | undefined;
  /** Requests that are alike in all of this but the tokens and the money. */
  readonly count: number;
  readonly bill: ShapeBill;
}

/** What alike requests used and cost together, those of which both are known. */
export interface ShapeBill {
  /** How many of them. */
  readonly known: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly costNanoUsd: number;
}

/** What one request used and cost. */
export interface ShapeUse {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** All of its calls together; null when one of them has no price. */
  readonly costNanoUsd: number | null;
}

/** Of a request that used nothing anybody knows. */
export const NO_USE: ShapeUse = Object.freeze({ promptTokens: null, completionTokens: null, costNanoUsd: null });

/** Names are as long as a client likes; no model's id is longer. */
const MAX_NAME_CHARACTERS = 256;
const UNKNOWN = 0xffff_ffff;
const COLUMNS = ["method", "path", "model", "provider", "key"] as const;

/** Alike requests, the place of one of them, and their longest prompt. */
interface Group {
  readonly at: number;
  count: number;
  tokens: number;
  readonly bill: { -readonly [Member in keyof ShapeBill]: ShapeBill[Member] };
}

const NO_BILL: ShapeBill = { known: 0, promptTokens: 0, completionTokens: 0, costNanoUsd: 0 };

/** Keeps the shapes of so many requests, the newest. */
export class RequestShapes {
  readonly capacity: number;
  readonly #columns: Readonly<Record<(typeof COLUMNS)[number], Uint32Array>>;
  readonly #flags: Uint8Array;
  readonly #tokens: Uint32Array;
  readonly #completionTokens: Uint32Array;
  /** NaN: unknown. */
  readonly #costs: Float64Array;
  #names = new Names<undefined>();
  #keys = new Names<ShapeKey>();
  #next = 0;
  #size = 0;

  constructor(capacity = 10_000) {
    this.capacity = capacity;
    const column = (): Uint32Array => new Uint32Array(capacity);
    this.#columns = { method: column(), path: column(), model: column(), provider: column(), key: column() };
    this.#flags = new Uint8Array(capacity);
    this.#tokens = new Uint32Array(capacity);
    this.#completionTokens = new Uint32Array(capacity);
    this.#costs = new Float64Array(capacity);
  }

  get size(): number {
    return this.#size;
  }

  /** Writes a request over the oldest one. */
  add(
    route: { readonly method: string; readonly path: string },
    model: string,
    provider: string,
    key: ShapeKey,
    flags: number,
    { promptTokens, completionTokens, costNanoUsd }: ShapeUse,
  ): void {
    // Names that no request has any more are forgotten once there are twice as many as requests could have.
    if (this.#names.size + this.#keys.size > 2 * this.capacity + 1_000) this.#forget();
    const at = this.#next;
    const columns = this.#columns;
    columns.method[at] = this.#names.idOf(route.method, undefined);
    columns.path[at] = this.#names.idOf(route.path, undefined);
    columns.model[at] = this.#names.idOf(model, undefined);
    columns.provider[at] = this.#names.idOf(provider, undefined);
    columns.key[at] = this.#keys.idOf(key.keyId, key);
    this.#flags[at] = flags;
    this.#tokens[at] = promptTokens ?? UNKNOWN;
    this.#completionTokens[at] = completionTokens ?? 0;
    this.#costs[at] = costNanoUsd ?? Number.NaN;
    this.#next = at + 1 === this.capacity ? 0 : at + 1;
    if (this.#size < this.capacity) this.#size += 1;
  }

  /** The shapes, equal ones as one. */
  list(): readonly RequestShape[] {
    const groups = new Map<string, Group>();
    for (let at = 0; at < this.#size; at += 1) {
      const name = `${COLUMNS.map((column) => this.#columns[column][at]).join(" ")} ${this.#flags[at]}`;
      const tokens = this.#tokens[at] === UNKNOWN ? -1 : this.#tokens[at]!;
      let group = groups.get(name);
      if (group === undefined) groups.set(name, (group = { at, count: 0, tokens, bill: { ...NO_BILL } }));
      group.count += 1;
      group.tokens = Math.max(group.tokens, tokens);
      const cost = this.#costs[at]!;
      if (Number.isNaN(cost)) continue;
      group.bill.known += 1;
      group.bill.promptTokens += Math.max(0, tokens);
      group.bill.completionTokens += this.#completionTokens[at]!;
      group.bill.costNanoUsd += cost;
    }
    return [...groups.values()].map(({ at, count, tokens, bill }) => ({
      method: this.#nameAt("method", at),
      path: this.#nameAt("path", at),
      model: this.#nameAt("model", at),
      provider: this.#nameAt("provider", at),
      key: this.#keys.valueOf(this.#columns.key[at]!)!,
      flags: this.#flags[at]!,
      promptTokens: tokens < 0 ? undefined : tokens,
      count,
      bill,
    }));
  }

  #nameAt(column: "method" | "path" | "model" | "provider", at: number): string {
    return this.#names.textOf(this.#columns[column][at]!);
  }

  #forget(): void {
    const names = new Names<undefined>();
    const keys = new Names<ShapeKey>();
    for (let at = 0; at < this.#size; at += 1) {
      for (const column of ["method", "path", "model", "provider"] as const) {
        this.#columns[column][at] = names.idOf(this.#nameAt(column, at), undefined);
      }
      const key = this.#keys.valueOf(this.#columns.key[at]!)!;
      this.#columns.key[at] = keys.idOf(key.keyId, key);
    }
    this.#names = names;
    this.#keys = keys;
  }
}

/** Texts by numbers, each with a value. */
class Names<T> {
  readonly #ids = new Map<string, number>();
  readonly #texts: string[] = [];
  readonly #values: T[] = [];

  get size(): number {
    return this.#texts.length;
  }

  idOf(text: string, value: T): number {
    const known = this.#ids.get(text);
    if (known !== undefined) {
      // The newest word on a key is the one that counts; most of the time it is the same object.
      if (this.#values[known] !== value) this.#values[known] = value;
      return known;
    }
    if (text.length > MAX_NAME_CHARACTERS) return this.idOf(copyOf(text.slice(0, MAX_NAME_CHARACTERS)), value);
    const kept = copyOf(text);
    const id = this.#texts.push(kept) - 1;
    this.#values.push(value);
    this.#ids.set(kept, id);
    return id;
  }

  textOf(id: number): string {
    return this.#texts[id] ?? "";
  }

  valueOf(id: number): T | undefined {
    return this.#values[id];
  }
}

/** A part of a string would keep the whole of it, which may be a body. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
