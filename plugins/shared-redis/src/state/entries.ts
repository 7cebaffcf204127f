/** Cached replies and the records of requests. */

import { type Begun, GatewayError, type StateBound, type StateDriver } from "@sluice/contract";
import * as bounded from "../scripts/bounded.ts";
import * as records from "../scripts/records.ts";
import type { Script } from "../scripts/script.ts";
import type { Place, Servers } from "../servers/servers.ts";
import type { Bulk } from "./bulk.ts";
import { wholeMs } from "./decisions.ts";
import type { Places } from "./groups.ts";

/** What entries and records are made with. */
export interface EntryParts {
  readonly servers: Servers;
  readonly bulk: Bulk;
  readonly places: Places;
  /** The largest entry, and the largest result. */
  readonly maxBytes: number;
}

/** Cached replies: plain keys with a time to live, at places of their own. */
export class Entries {
  readonly #servers: Servers;
  readonly #bulk: Bulk;
  readonly #places: Places;
  readonly #maxBytes: number;

  constructor({ servers, bulk, places, maxBytes }: EntryParts) {
    this.#servers = servers;
    this.#bulk = bulk;
    this.#places = places;
    this.#maxBytes = maxBytes;
  }

  get driver(): StateDriver["cache"] {
    return {
      get: (key, use) => this.#get(key, use),
      set: (key, bytes, ttlMs, _holder, bounds = []) => this.#set(key, bytes, ttlMs, bounds),
      delete: (key) => this.#delete(key),
      purge: (begin) => this.#purge(begin),
    };
  }

  async #get(key: string, use?: "needed"): Promise<Uint8Array | undefined> {
    const place = this.#places.ofEntry(key);
    const otherwise = use === "needed" ? UNREAD : null;
    const reply = await this.#bulk.command(place, ["GET", nameOf(place, key)], otherwise);
    if (reply === UNREAD) throw notReadNow();
    return (reply as Buffer | null) ?? undefined;
  }

  async #set(
    key: string,
    bytes: Uint8Array,
    ttlMs: number,
    bounds: readonly StateBound[],
  ): Promise<boolean> {
    if (bytes.length > this.#maxBytes) {
      await this.#delete(key);
      return false;
    }
    if (bounds.length > 0) return await this.#setBounded(key, bufferOf(bytes), ttlMs, bounds);
    return await this.#write(key, bufferOf(bytes), ttlMs);
  }

  async #write(key: string, bytes: Buffer, ttlMs: number): Promise<boolean> {
    const place = this.#places.ofEntry(key);
    const parts = [key, bytes, String(wholeMs(ttlMs))];
    return (await this.#bulk.run(bounded.store, place, [nameOf(place, key)], parts, 0)) === 1;
  }

  /**
   * One server stores the entry with what is known of its bounds. In a cluster that is at one place
   * for all, and says which entries must go.
   */
  async #setBounded(
    key: string,
    bytes: Buffer,
    ttlMs: number,
    bounds: readonly StateBound[],
  ): Promise<boolean> {
    const { isCluster } = this.#servers;
    const place = this.#places.bounds;
    const names = boundNames(place, key, bounds);
    const limits = bounds.flatMap(({ name, maxBytes, part = "" }) => [
      name,
      String(maxBytes),
      part,
    ]);
    const own = isCluster ? Buffer.alloc(0) : bytes;
    const parts = [key, own, String(bytes.length), String(wholeMs(ttlMs)), ...limits];
    const gone = (await this.#bulk.run(bounded.admit, place, names, parts, 0)) as
      | readonly Buffer[]
      | number;
    if (typeof gone === "number") {
      if (isCluster) await this.#drop(key);
      return false;
    }
    if (!isCluster) return true;
    const [isStored] = await Promise.all([
      this.#write(key, bytes, ttlMs),
      ...gone.map(String).map((other) => (other === key ? 0 : this.#drop(other))),
    ]);
    if (!isStored) await this.#forget([key]);
    return isStored;
  }

  /** Deletes an entry, and what is known of its bounds. */
  async #delete(key: string): Promise<void> {
    await this.#forget([key]);
    if (this.#servers.isCluster) await this.#drop(key);
  }

  async #drop(key: string): Promise<number> {
    const place = this.#places.ofEntry(key);
    return Number(await this.#servers.command(place, "DEL", nameOf(place, key)));
  }

  async #forget(keys: readonly string[]): Promise<number> {
    const place = this.#places.bounds;
    const names = keys.flatMap((key) => boundNames(place, key, []));
    return Number(await this.#servers.run(bounded.drop, place, names, ...keys));
  }

  async #purge(begin: string): Promise<number> {
    let count = 0;
    for await (const names of this.#servers.scan(this.#servers.pattern(begin))) {
      const keys = names.map((name) => name.slice(name.indexOf(`x:${begin}`) + 2));
      const gone = await this.#forget(keys);
      if (!this.#servers.isCluster) count += gone;
      else
        for (const removed of await Promise.all(keys.map((key) => this.#drop(key))))
          count += removed;
    }
    return count;
  }
}

/** Records of requests. Each change is one script. */
export function createRecords({
  servers,
  bulk,
  places,
  maxBytes,
}: EntryParts): StateDriver["records"] {
  const run = (script: Script, key: string, ...parts: string[]): Promise<unknown> => {
    const place = places.ofEntry(key);
    return servers.run(script, place, [recordName(place, key)], key, ...parts);
  };
  return {
    async begin(key, bodyDigest, owner, leaseMs) {
      const parts = [bodyDigest, owner, String(wholeMs(leaseMs))];
      const outcome = String(await run(records.begin, key, ...parts)) as Begun["outcome"];
      if (outcome !== "done") return { outcome };
      const place = places.ofEntry(key);
      const words = ["HGET", recordName(place, key), "bytes"];
      const bytes = (await bulk.command(place, words, null)) as Buffer | null;
      // A result that cannot be read now, or has just ended: the caller asks again.
      return bytes === null ? { outcome: "running" } : { outcome, bytes };
    },
    async complete(key, owner, bytes, ttlMs) {
      const place = places.ofEntry(key);
      const parts = [key, owner, bufferOf(bytes), String(wholeMs(ttlMs))];
      const isKept =
        bytes.length <= maxBytes &&
        (await bulk.run(records.complete, place, [recordName(place, key)], parts, 0)) === 1;
      // Without an answer it may be stored all the same: then the key is not freed.
      if (!isKept) await run(records.abandon, key, owner);
      return isKept;
    },
    async abandon(key, owner) {
      await run(records.abandon, key, owner);
    },
  };
}

function recordName({ prefix }: Place, key: string): string {
  return `${prefix}i:${key}`;
}

/** Stands for an entry that cannot be read now. */
const UNREAD = Symbol("unread");

function notReadNow(): GatewayError {
  return new GatewayError(
    "overloaded",
    "Redis does not answer with an entry in time. Retry after the time in retry-after.",
    { retryAfterMs: 1_000 },
  );
}

function nameOf({ prefix }: Place, key: string): string {
  return `${prefix}x:${key}`;
}

function boundNames({ prefix }: Place, key: string, bounds: readonly StateBound[]): string[] {
  return [
    `${prefix}x:${key}`,
    `${prefix}y:${key}`,
    ...bounds.flatMap(({ name, part }) => [
      ...["g", "n"].map((kind) => `${prefix}${kind}:${name}`),
      ...(part === undefined ? [] : ["l", "t"].map((kind) => `${prefix}${kind}:${name}`)),
    ]),
  ];
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
