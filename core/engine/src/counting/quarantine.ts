/** Texts that broke or blocked a worker: for a while they are estimated and not counted. */

import { hash } from "node:crypto";
import type { Clock } from "@sluice/contract";

const HELD_MS = 10 * 60_000;
const MAX_HELD = 256;

/** Remembers texts by their digest, a bounded number for a bounded time. */
export class Quarantine {
  readonly #clock: Clock;
  /** When each was held, by size and digest; the oldest first. */
  readonly #held = new Map<string, number>();
  /** How many are held of each size, so that no digest is made of a text whose size none has. */
  readonly #sizes = new Map<number, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Holds the texts of one job; beyond 256 the oldest goes. */
  hold(texts: readonly string[]): void {
    const key = keyOf(texts);
    if (!this.#held.delete(key)) this.#resize(sizeOf(texts), 1);
    this.#held.set(key, this.#clock.monotonic());
    if (this.#held.size > MAX_HELD) this.#dropOldest();
  }

  /** Whether these very texts are held. */
  holds(texts: readonly string[]): boolean {
    if (this.#held.size === 0) return false;
    const oldestMs = this.#clock.monotonic() - HELD_MS;
    for (const heldMs of this.#held.values()) {
      if (heldMs >= oldestMs) break;
      this.#dropOldest();
    }
    return this.#sizes.has(sizeOf(texts)) && this.#held.has(keyOf(texts));
  }

  #dropOldest(): void {
    const [key] = this.#held.keys();
    if (key === undefined) return;
    this.#held.delete(key);
    this.#resize(Number(key.slice(0, key.indexOf(":"))), -1);
  }

  #resize(size: number, by: number): void {
    const count = (this.#sizes.get(size) ?? 0) + by;
    if (count > 0) this.#sizes.set(size, count);
    else this.#sizes.delete(size);
  }
}

function sizeOf(texts: readonly string[]): number {
  return texts.reduce((total, text) => total + text.length, 0);
}

function keyOf(texts: readonly string[]): string {
  return `${sizeOf(texts)}:${hash("sha256", texts.length === 1 ? (texts[0] ?? "") : JSON.stringify(texts), "base64")}`;
}
