/** The master key, and the one from before a rotation. */

import type { Clock } from "@sluice/contract";

/** A master key that is accepted beside the present one. */
export interface PreviousMaster {
  readonly key: { reveal(): string };
  /** In milliseconds since 1970. */
  readonly untilMs: number;
}

/** How often the previous master key was accepted by this process, and when it was last. */
export interface PreviousMasterUse {
  readonly count: number;
  readonly lastMs: number | undefined;
}

/** What master keys are made from. */
export interface MasterKeyOptions {
  readonly masterKey: string;
  /** The master key from before a rotation. Absent, and `undefined`: there is none. */
  readonly previousMaster?: (() => PreviousMaster | undefined) | undefined;
  readonly clock: Clock;
}

/** Compares fingerprints with those of the master keys. */
export class MasterKeys {
  readonly #present: string;
  readonly #previous: () => PreviousMaster | undefined;
  readonly #fingerprint: (key: string) => string;
  readonly #clock: Clock;
  #previousUse: PreviousMasterUse = { count: 0, lastMs: undefined };

  constructor(options: MasterKeyOptions, fingerprint: (key: string) => string) {
    this.#fingerprint = fingerprint;
    this.#present = fingerprint(options.masterKey);
    this.#previous = options.previousMaster ?? (() => undefined);
    this.#clock = options.clock;
  }

  get previousUse(): PreviousMasterUse {
    return this.#previousUse;
  }

  /** The fingerprint of the present master key. */
  get present(): string {
    return this.#present;
  }

  /** The fingerprints of all keys that are accepted now. */
  get accepted(): readonly string[] {
    const { key, untilMs = 0 } = this.#previous() ?? {};
    if (key === undefined || this.#clock.now() >= untilMs) return [this.#present];
    return [this.#present, this.#fingerprint(key.reveal())];
  }

  /** Whether a fingerprint is that of the present master key. */
  isPresent(fingerprint: string): boolean {
    return fingerprint === this.#present;
  }

  /** Whether a fingerprint is that of a master key, the previous one included. */
  isOne(fingerprint: string): boolean {
    return this.isPresent(fingerprint) || this.#isPrevious(fingerprint);
  }

  /** As `isOne` for the previous key alone; counts the use. */
  takesPrevious(fingerprint: string): boolean {
    if (!this.#isPrevious(fingerprint)) return false;
    this.#previousUse = { count: this.#previousUse.count + 1, lastMs: this.#clock.now() };
    return true;
  }

  #isPrevious(fingerprint: string): boolean {
    const previous = this.#previous();
    if (previous === undefined || this.#clock.now() >= previous.untilMs) return false;
    return this.#fingerprint(previous.key.reveal()) === fingerprint;
  }
}
