/**
 * Presence: which gateways are there. One that is not, and has not left, may decide alone, at its
 * share of what was left of each budget. The others leave that share to it.
 */

import { randomUUID } from "node:crypto";
import * as scripts from "../scripts/presence.ts";
import type { Place, Servers } from "../servers/servers.ts";

/** A gateway that was not there for so long is missing. Gateways report twice a second. */
const MISSING_AFTER_MS = 1_500;
/** A gateway that is missing for so long is given up. */
const GIVEN_UP_AFTER_MS = 600_000;
const PLACE = "#presence";

/** Which gateways may decide alone, as of the last report. */
export interface Absence {
  /** The part of the gateways that is missing, from 0 to 1. */
  readonly missingPart: number;
  /** The part of one gateway, or of those that are missing. */
  readonly part: number;
  /**
   * When the last gateway reported first whose earlier process was killed while it decided alone,
   * by the clock of the server; 0: none did.
   */
  readonly succeededMs: number;
}

/** The presence of this gateway and of the others. */
export class Presence {
  readonly #servers: Servers;
  readonly #place: Place;
  readonly #id = randomUUID();
  /** When others were there, also where the server has forgotten it: on `performance.now`. */
  readonly #seen = new Map<string, number>();
  #absence: Absence = { missingPart: 0, part: 0, succeededMs: 0 };
  #hasReported = false;

  constructor(servers: Servers) {
    this.#servers = servers;
    this.#place = servers.place(PLACE);
  }

  get absence(): Absence {
    return this.#absence;
  }

  /** Reports that this gateway, one of `instances`, is there. */
  async report(instances: number, isSuccessor = false): Promise<void> {
    const reply = await this.#run("1", isSuccessor);
    this.#hasReported = true;
    const nowMs = performance.now();
    let { succeededMs } = this.#absence;
    let present = 0;
    for (const [id, ageMs] of reply) {
      if (id === scripts.SUCCEEDED) succeededMs = Math.max(succeededMs, ageMs);
      else if (ageMs < 0) this.#seen.delete(id);
      else {
        if (ageMs < MISSING_AFTER_MS) present += 1;
        this.#seen.set(id, Math.max(this.#seen.get(id) ?? -Infinity, nowMs - ageMs));
      }
    }
    let missing = 0;
    for (const [id, seenMs] of this.#seen) {
      if (nowMs - seenMs > GIVEN_UP_AFTER_MS) this.#seen.delete(id);
      else if (nowMs - seenMs > MISSING_AFTER_MS) missing += 1;
    }
    // A gateway that was killed and has started again has another id.
    const missingPart = Math.max(0, Math.min(instances - present, missing)) / instances;
    this.#absence = { missingPart, part: missingPart || 1 / instances, succeededMs };
  }

  /** Reports that this gateway leaves. */
  async leave(): Promise<void> {
    if (this.#hasReported) await this.#run("0", false);
  }

  async #run(isThere: "0" | "1", isSuccessor: boolean): Promise<[id: string, ageMs: number][]> {
    const names = [`${this.#place.prefix}p:`];
    const parts = [this.#id, isThere, String(GIVEN_UP_AFTER_MS), isSuccessor ? "1" : "0"];
    const reply = (await this.#servers.run(
      scripts.beat,
      this.#place,
      names,
      ...parts,
    )) as readonly Buffer[];
    const pairs: [string, number][] = [];
    for (let at = 0; at + 1 < reply.length; at += 2)
      pairs.push([String(reply[at]), Number(String(reply[at + 1]))]);
    return pairs;
  }
}
