/**
 * Bytes of entries and results. They have connections of their own: decisions do not wait behind
 * them, and bytes that take long do not count as a server that is away.
 */

import type { Log } from "@sluice/contract";
import type { Script } from "../scripts/script.ts";
import type { Place, Servers } from "../servers/servers.ts";

/** Without any answer for this time, a connection of bytes is closed. */
export const BULK_TIMEOUT_MS = 500;
/** Calls under way at most, and the bytes that they carry. Further ones are left out. */
const MAX_CALLS = 256;
const MAX_BYTES = 16 * 1024 * 1024;

/** The servers of decisions and those of bytes, which are the same ones. */
export interface BulkParts {
  readonly servers: Servers;
  readonly bulk: Servers;
  readonly log: Pick<Log, "debug">;
}

/** Calls that carry bytes. */
export class Bulk {
  readonly #parts: BulkParts;
  #calls = 0;
  #bytes = 0;

  constructor(parts: BulkParts) {
    this.#parts = parts;
  }

  /** Runs a command. Resolves with `otherwise` where it fails although the server answers. */
  command<T>(place: Place, parts: readonly string[], otherwise: T): Promise<unknown> {
    return this.#call(place, 0, otherwise, () => this.#parts.bulk.command(place, ...parts));
  }

  /** Runs a script with bytes. Resolves as `command`. */
  run<T>(
    script: Script,
    place: Place,
    keys: readonly string[],
    parts: readonly (string | Buffer)[],
    otherwise: T,
  ): Promise<unknown> {
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    return this.#call(place, bytes, otherwise, () =>
      this.#parts.bulk.run(script, place, keys, ...parts),
    );
  }

  async #call<T>(
    place: Place,
    bytes: number,
    otherwise: T,
    send: () => Promise<unknown>,
  ): Promise<unknown> {
    const isOver = this.#bytes > 0 && this.#bytes + bytes > MAX_BYTES;
    if (isOver || this.#calls >= MAX_CALLS) return otherwise;
    this.#calls += 1;
    this.#bytes += bytes;
    try {
      return await send();
    } catch (error) {
      // Rejects where the server is away for decisions too.
      await this.#parts.servers.command(place, "PING");
      this.#parts.log.debug("an entry of shared state was left out", { error });
      return otherwise;
    } finally {
      this.#calls -= 1;
      this.#bytes -= bytes;
    }
  }
}
