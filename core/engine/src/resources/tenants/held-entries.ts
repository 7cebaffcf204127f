/**
 * Entries with a bound in bytes: a key with the most loses its own first, the one that brings an
 * entry before others. What keys have is compared in steps, each of 1 KB.
 */

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

const STEP_BYTES = 1_024;

/** Holders by the steps that they have reached: the highest is known after any change. */
class Steps {
  readonly #holders = new Map<number, Set<Holder>>();
  #highest = 0;

  /** A holder of the highest step: the preferred one where it has reached it. */
  highest(preferred: Holder | undefined): Holder | undefined {
    const holders = this.#holders.get(this.#highest);
    if (preferred !== undefined && holders?.has(preferred) === true) return preferred;
    return holders?.values().next().value;
  }

  /** Changes what a holder has. The search for the highest takes no more steps than were added. */
  change(holder: Holder, bytes: number): void {
    const before = stepOf(holder);
    holder.bytes += bytes;
    const step = stepOf(holder);
    if (step === before) return;
    const left = this.#holders.get(before);
    left?.delete(holder);
    if (left?.size === 0) this.#holders.delete(before);
    if (step > 0) {
      const reached = this.#holders.get(step);
      if (reached === undefined) this.#holders.set(step, new Set([holder]));
      else reached.add(holder);
    }
    this.#highest = Math.max(this.#highest, step);
    while (this.#highest > 0 && !this.#holders.has(this.#highest)) this.#highest -= 1;
  }
}

/** 0 for a holder without entries alone. */
function stepOf({ bytes }: Holder): number {
  return Math.ceil(bytes / STEP_BYTES);
}

/** The entries, by their names. */
export class HeldEntries<Value> {
  readonly #entries = new Map<string, Held<Value>>();
  readonly #holders = new Map<string, Holder>();
  readonly #steps = new Steps();
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
    while (this.#bytes + bytes > maxBytes && this.#entries.size > 0) this.#dropOne(keyId);
    let holder = this.#holders.get(keyId);
    if (holder === undefined)
      this.#holders.set(keyId, (holder = { keyId, names: new Set(), bytes: 0 }));
    holder.names.add(name);
    this.#steps.change(holder, bytes);
    this.#bytes += bytes;
    this.#entries.set(name, { value, bytes, holder, usedMs: 0 });
  }

  *values(): Generator<Value> {
    for (const { value } of this.#entries.values()) yield value;
  }

  /** Drops the oldest entry of a key with the most: of the writer where it is one. */
  #dropOne(writer: string): void {
    const most = this.#steps.highest(this.#holders.get(writer));
    const [oldest] = most?.names ?? [];
    const dropped = oldest === undefined ? undefined : this.#entries.get(oldest);
    if (most === undefined || oldest === undefined || dropped === undefined) return;
    this.#entries.delete(oldest);
    most.names.delete(oldest);
    this.#bytes -= dropped.bytes;
    this.#steps.change(most, -dropped.bytes);
    if (most.names.size === 0) this.#holders.delete(most.keyId);
  }
}
