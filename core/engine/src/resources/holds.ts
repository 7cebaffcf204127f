/**
 * Deployments that an operator holds, in a file of the data folder: a worker that starts later, and
 * a generation that makes a deployment anew, hold them too.
 */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock, DeploymentRegistry, Log } from "@sluice/contract";

/** Holds that are kept. */
const MAX_HOLDS = 500;

/** Keeps the holds of one data folder. All processes of a gateway write the same ones. */
export class Holds {
  readonly #path: string;
  readonly #clock: Pick<Clock, "now">;
  readonly #log: Log;

  constructor(directory: string, clock: Pick<Clock, "now">, log: Log) {
    this.#path = join(directory, "holds.json");
    this.#clock = clock;
    this.#log = log;
  }

  /** The ends of the present holds, milliseconds since 1970, by the ids of the deployments. */
  read(): ReadonlyMap<string, number> {
    const nowMs = this.#clock.now();
    return new Map([...this.#readAll()].filter(([, untilMs]) => nowMs < untilMs));
  }

  /** Holds the deployments that a generation has made. */
  applyTo(registry: Pick<DeploymentRegistry, "hold"> | undefined): void {
    for (const [id, untilMs] of this.read()) registry?.hold(id, untilMs);
  }

  /** Keeps a hold, or drops it where there is no end. */
  write(id: string, untilMs: number | undefined): void {
    const holds = new Map(this.read());
    holds.delete(id);
    if (untilMs !== undefined) holds.set(id, untilMs);
    const kept = [...holds].slice(-MAX_HOLDS);
    const fresh = `${this.#path}.${process.pid}`;
    writeFileSync(fresh, JSON.stringify(Object.fromEntries(kept)), { mode: 0o600 });
    renameSync(fresh, this.#path);
  }

  #readAll(): Iterable<[string, number]> {
    try {
      const found = JSON.parse(readFileSync(this.#path, "utf8")) as Record<string, unknown>;
      return Object.entries(found).filter(
        (entry): entry is [string, number] => typeof entry[1] === "number",
      );
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== "ENOENT")
        this.#log.warn("the holds of deployments cannot be read", { file: this.#path, error });
      return [];
    }
  }
}
