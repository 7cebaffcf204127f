/** Cached replies and the records of requests. */

import type { Begun, StateBound, StateDriver } from "@sluice/contract";
import * as bounded from "../scripts/bounded.ts";
import * as records from "../scripts/records.ts";
import type { Script } from "../scripts/script.ts";
import type { Place, Servers } from "../servers/servers.ts";
import { wholeMs } from "./decisions.ts";
import type { Places } from "./groups.ts";

/** Cached replies: plain keys with a time to live, at places of their own. */
export class Entries {
  readonly #servers: Servers;
  readonly #places: Places;
  readonly #maxBytes: number;

  constructor(servers: Servers, places: Places, maxBytes: number) {
    this.#servers = servers;
    this.#places = places;
    this.#maxBytes = maxBytes;
  }

  get driver(): StateDriver["cache"] {
    return {
      get: (key) => this.#get(key),
      set: (key, bytes, ttlMs, _holder, bounds = []) => this.#set(key, bytes, ttlMs, bounds),
      delete: (key) => this.#delete(key),
      purge: (begin) => this.#purge(begin),
    };
  }

  async #get(key: string): Promise<Uint8Array | undefined> {
    const place = this.#places.ofEntry(key);
    const reply = await this.#servers.command(place, "GET", nameOf(place, key));
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
    await this.#write(key, bufferOf(bytes), ttlMs);
    return true;
  }

  async #write(key: string, bytes: Buffer, ttlMs: number): Promise<void> {
    const place = this.#places.ofEntry(key);
    const ms = String(wholeMs(ttlMs));
    await this.#servers.command(place, "SET", nameOf(place, key), bytes, "PX", ms);
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
    const gone = (await this.#servers.run(bounded.admit, place, names, ...parts)) as
      | readonly Buffer[]
      | number;
    if (typeof gone === "number") {
      if (isCluster) await this.#drop(key);
      return false;
    }
    if (!isCluster) return true;
    await Promise.all([
      this.#write(key, bytes, ttlMs),
      ...gone.map(String).map((other) => (other === key ? 0 : this.#drop(other))),
    ]);
    return true;
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
export function createRecords(
  servers: Servers,
  places: Places,
  maxBytes: number,
): StateDriver["records"] {
  const run = (script: Script, key: string, ...parts: (string | Buffer)[]): Promise<unknown> => {
    const place = places.ofEntry(key);
    return servers.run(script, place, [`${place.prefix}i:${key}`], key, ...parts);
  };
  return {
    async begin(key, bodyDigest, owner, leaseMs) {
      const parts = [bodyDigest, owner, String(wholeMs(leaseMs))];
      const [outcome, bytes] = (await run(records.begin, key, ...parts)) as Buffer[];
      const word = String(outcome) as Begun["outcome"];
      return word === "done" ? { outcome: word, bytes: bytes! } : { outcome: word };
    },
    async complete(key, owner, bytes, ttlMs) {
      if (bytes.length > maxBytes) {
        await run(records.abandon, key, owner);
        return false;
      }
      const parts = [owner, bufferOf(bytes), String(wholeMs(ttlMs))];
      return (await run(records.complete, key, ...parts)) === 1;
    },
    async abandon(key, owner) {
      await run(records.abandon, key, owner);
    },
  };
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
