/** Entries with a bound in bytes: the key with the most loses its own first. */

/** What one key brought, the one that was used the longest ago first. */
interface Holder {
  readonly keyId: string;
  readonly names: Set<string>;
  bytes: number;
}

interface Held<Value> {
  readonly value: Value;
  readonly bytes: number;
  readonly holder: Holder;
  /** When it became the last one of its key. */
  usedMs: number;
}

/** The order of use is exact to this span: an entry that many requests use moves once in it. */
const ORDER_MS = 1_000;

/** How many holders are compared where one must lose an entry. */
const MAX_COMPARED = 256;

/** The entries, by their names. */
export class HeldEntries<Value> {
  readonly #entries = new Map<string, Held<Value>>();
  readonly #holders = new Map<string, Holder>();
  #bytes = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): Value | undefined {
    return this.#entries.get(name)?.value;
  }

  /** As `get`; the entry becomes the one of its key that was used last. */
  use(name: string, nowMs: number): Value | undefined {
    const held = this.#entries.get(name);
    if (held === undefined) return undefined;
    if (nowMs - held.usedMs < ORDER_MS) return held.value;
    held.usedMs = nowMs;
    held.holder.names.delete(name);
    held.holder.names.add(name);
    return held.value;
  }

  /** Adds an entry that is not there. `maxBytes` is the bound of all entries. */
  set(
    name: string,
    value: Value,
    {
      bytes,
      keyId,
      maxBytes,
    }: { readonly bytes: number; readonly keyId: string; readonly maxBytes: number },
  ): void {
    while (this.#bytes + bytes > maxBytes && this.#entries.size > 0) this.#dropOne();
    let holder = this.#holders.get(keyId);
    if (holder === undefined)
      this.#holders.set(keyId, (holder = { keyId, names: new Set(), bytes: 0 }));
    holder.names.add(name);
    holder.bytes += bytes;
    this.#bytes += bytes;
    this.#entries.set(name, { value, bytes, holder, usedMs: 0 });
  }

  *values(): Generator<Value> {
    for (const { value } of this.#entries.values()) yield value;
  }

  /** Drops the oldest entry of the key that has the most. */
  #dropOne(): void {
    let most: Holder | undefined;
    let compared = 0;
    for (const holder of this.#holders.values()) {
      if (most === undefined || holder.bytes > most.bytes) most = holder;
      compared += 1;
      if (compared === MAX_COMPARED) break;
    }
    const [oldest] = most?.names ?? [];
    const dropped = oldest === undefined ? undefined : this.#entries.get(oldest);
    if (most === undefined || oldest === undefined || dropped === undefined) return;
    this.#entries.delete(oldest);
    most.names.delete(oldest);
    most.bytes -= dropped.bytes;
    this.#bytes -= dropped.bytes;
    if (most.names.size === 0) this.#holders.delete(most.keyId);
  }
}
