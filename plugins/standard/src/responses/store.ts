/** Stored responses in the shared state: sealed, each under its key, within bounds. */

import { GatewayError, type Host, type JsonObject, type MaybePromise } from "@sluice/contract";
import { isObject, parseJson } from "@sluice/kit";

/** How long responses are stored, and how many bytes of them. */
export interface StoreLimits {
  readonly ttlMs: number;
  readonly maxEntryBytes: number;
  readonly maxKeyBytes: number;
  readonly maxTotalBytes: number;
}

/** How storing a response ended. */
export type StoreResult = "stored" | "too large" | "refused by the shared state";

const PURPOSE = "responses";
const PREFIX = "responses:";
/** The bound of all keys together: no key has this name, because those of keys end with a colon. */
const ALL = "responses";

/** The stored responses of all keys. A response is found for the key alone that stored it. */
export class ResponseStore {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** The entry of a key, `undefined` without one. Rejects with `overloaded` if reading fails. */
  async find(
    keyId: string,
    id: string,
    hold?: (bytes: number) => boolean,
  ): Promise<JsonObject | undefined> {
    const bytes = await this.findBytes(keyId, id, hold);
    const entry: unknown = bytes === undefined ? undefined : parseJson(textOf(bytes));
    return isObject(entry) ? entry : undefined;
  }

  /** Stores an entry. Never throws or rejects. */
  keep(
    keyId: string,
    id: string,
    entry: JsonObject,
    limits: StoreLimits,
  ): MaybePromise<StoreResult> {
    try {
      return this.keepBytes(keyId, id, Buffer.from(JSON.stringify(entry)), limits);
    } catch (error) {
      return this.#lost(error);
    }
  }

  /** What a key stored under a name, as `find`. */
  async findBytes(
    keyId: string,
    name: string,
    hold?: (bytes: number) => boolean,
  ): Promise<Uint8Array | undefined> {
    const { state, sealer } = this.#host;
    let sealed: Uint8Array | undefined;
    try {
      sealed = await state.cache.get(entryKey(keyId, name), "needed");
    } catch (cause) {
      throw new GatewayError("overloaded", "Stored responses cannot be read now. Retry.", {
        retryAfterMs: 1_000,
        cause,
      });
    }
    if (sealed === undefined) return undefined;
    if (hold?.(sealed.length) === false)
      throw new GatewayError(
        "overloaded",
        "The process has no room for the stored responses of this request. Retry later.",
      );
    return sealer.open(PURPOSE, ownerOf(keyId, name), sealed);
  }

  /** Stores bytes under a name, within the bounds of the key. Never throws or rejects. */
  keepBytes(
    keyId: string,
    name: string,
    bytes: Uint8Array,
    { ttlMs, maxEntryBytes, maxKeyBytes, maxTotalBytes }: StoreLimits,
  ): MaybePromise<StoreResult> {
    const { state, sealer } = this.#host;
    try {
      if (bytes.length > maxEntryBytes) return "too large";
      const sealed = sealer.seal(PURPOSE, ownerOf(keyId, name), bytes);
      if (sealed.length > maxEntryBytes) return "too large";
      const holder = holderKey(keyId);
      const bounds = [
        { name: holder, maxBytes: maxKeyBytes },
        { name: ALL, maxBytes: maxTotalBytes, part: holder },
      ];
      const isKept = state.cache.set(entryKey(keyId, name), sealed, ttlMs, holder, bounds);
      return isKept instanceof Promise
        ? isKept.then(resultOf, (error: unknown) => this.#lost(error))
        : resultOf(isKept);
    } catch (error) {
      return this.#lost(error);
    }
  }

  async delete(keyId: string, name: string): Promise<void> {
    await this.#host.state.cache.delete(entryKey(keyId, name));
  }

  #lost(error: unknown): StoreResult {
    this.#host.log.warn("a response could not be stored", { error });
    return resultOf(false);
  }
}

function resultOf(isKept: boolean): StoreResult {
  return isKept ? "stored" : "refused by the shared state";
}

function holderKey(keyId: string): string {
  return `${PREFIX}${encodeURIComponent(keyId)}:`;
}

function entryKey(keyId: string, name: string): string {
  return holderKey(keyId) + name;
}

/** What sealed bytes belong to: moved to another key or name, they do not open. */
function ownerOf(keyId: string, name: string): string {
  return JSON.stringify([keyId, name]);
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
