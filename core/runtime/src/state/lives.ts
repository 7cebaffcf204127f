/** Lives of a server: in a new one it has lost what was written last. */

import type { Clock, StateDriver } from "@sluice/contract";

/** How long a server in a new life is there before it decides: rows reach the ledger meanwhile. */
const NEW_LIFE_MS = 2_000;

/** Watches the life of a driver's server. */
export class Lives {
  readonly #driver: StateDriver;
  readonly #clock: Pick<Clock, "monotonic">;
  #known: string | undefined;
  /** Another life, and when it was first seen. */
  #other: { readonly name: string | undefined; readonly sinceMs: number } | undefined;

  constructor(driver: StateDriver, clock: Pick<Clock, "monotonic">) {
    this.#driver = driver;
    this.#clock = clock;
  }

  /** Takes the present life as the one that decides. */
  accept(): void {
    this.#known = this.#driver.life;
    this.#other = undefined;
  }

  /** How long the server is yet to be left alone, in milliseconds; 0 in a life that is known. */
  waitMs(): number {
    const { life: name } = this.#driver;
    if (name === this.#known) return 0;
    const nowMs = this.#clock.monotonic();
    if (this.#other === undefined || this.#other.name !== name)
      this.#other = { name, sinceMs: nowMs };
    return Math.max(0, this.#other.sinceMs + NEW_LIFE_MS - nowMs);
  }
}
