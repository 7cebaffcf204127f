/** What takes the reply of an exchange whose client does not wait: its events are kept. */

import { EventEmitter } from "node:events";
import type { DetachedRun } from "@sluice/runtime";
import type { Outgoing } from "../egress/outgoing.ts";

/**
 * Takes a reply. A whole one and an error are not written anywhere: their form keeps them, or the
 * exchange's failure says what happened.
 */
export class DetachedOutput extends EventEmitter implements Outgoing {
  headersSent = false;
  statusCode = 200;
  destroyed = false;
  writableEnded = false;
  writableNeedDrain = false;
  /** The events that were written last; empty before the first. */
  lastEvents = "";
  readonly #run: DetachedRun;
  /** Whether the reply is a stream. */
  hasEvents = false;

  constructor(run: DetachedRun) {
    super();
    this.#run = run;
  }

  writeHead(status: number, headers: readonly string[]): void {
    this.statusCode = status;
    this.headersSent = true;
    this.hasEvents = headers.some((text) => text.startsWith("text/event-stream"));
  }

  write(piece: string | Uint8Array): boolean {
    if (!this.hasEvents || typeof piece !== "string" || piece === "") return true;
    this.lastEvents = piece;
    const waiting = this.#run.append(piece);
    if (waiting === undefined) return true;
    this.writableNeedDrain = true;
    void waiting.then(() => {
      this.writableNeedDrain = false;
      this.emit("drain");
    });
    return false;
  }

  end(piece: string | Uint8Array = ""): void {
    this.write(piece);
    this.writableEnded = true;
  }

  cork(): void {}

  uncork(): void {}

  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}
