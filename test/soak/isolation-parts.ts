/**
 * The parts of `proof:isolation` that run beside it: the victim and the attacker, each a process of
 * its own, so that the victim's times hold neither the attacker's work nor the upstream's. The
 * attacker has the lowest priority: on a small machine it takes no core from the gateway.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { UpstreamScript } from "@sluice/testing";
import { OPTIONS } from "./isolation-stage.ts";
import type { Seen } from "./victim.ts";

/** What a part is started with. The keys are those that the row got when it was prepared. */
export interface PartStart {
  readonly row: string;
  readonly role: "victim" | "attacker";
  readonly gateway: {
    readonly pid: number;
    readonly publicUrl: string;
    readonly adminUrl: string;
    readonly masterKey: string;
  };
  readonly serviceUrl: string;
  readonly keys: readonly string[];
}

/** What became of the attacker's requests. */
export interface Refusals {
  readonly isNamed: boolean;
  readonly count: number;
  readonly first: string | undefined;
}

/** What a part is asked for, and answers with `Said`. */
export type Order = PartStart | "watch" | "burn" | "rest" | "attack" | "end";
export type Said =
  | "done"
  | { readonly seen: Seen }
  | { readonly refusals: Refusals }
  | { readonly script: readonly [string, ...UpstreamScript[]] };

/** A started part. */
export class Part {
  readonly #child: ChildProcess;

  constructor(script: (name: string, ...scripts: readonly UpstreamScript[]) => void) {
    const { workers, rows, seconds } = OPTIONS;
    this.#child = fork(new URL("isolation-part.ts", import.meta.url), [
      `--workers=${workers}`,
      `--rows=${rows}`,
      `--seconds=${seconds}`,
    ]);
    this.#child.on("message", (said: Said) => {
      if (typeof said === "object" && "script" in said) script(...said.script);
    });
  }

  /** Gives an order, and resolves with the answer. Rejects where the part ends before. */
  async ask(order: Order): Promise<Said> {
    const answer = new Promise<Said>((resolve, reject) => {
      const listen = (said: Said): void => {
        if (typeof said === "object" && "script" in said) return;
        this.#child.off("message", listen);
        resolve(said);
      };
      this.#child.on("message", listen);
      this.#child.once("exit", (code) => reject(new Error(`A part of the proof ended: ${code}.`)));
    });
    this.#child.send(order);
    return answer;
  }

  async watch(): Promise<Seen> {
    const said = await this.ask("watch");
    if (typeof said !== "object" || !("seen" in said)) throw new Error("The part did not watch.");
    return said.seen;
  }

  async end(): Promise<Refusals> {
    const said = await this.ask("end");
    if (typeof said !== "object" || !("refusals" in said))
      throw new Error("The part did not attack.");
    return said.refusals;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }
}
