/** Signals of the process that was started, from the first moment of its start on. */

import type { ProcessHandlers } from "@sluice/engine/cluster";
import { EXIT } from "./exit.ts";

/** Follows SIGTERM, SIGINT, SIGHUP and SIGUSR2. */
export interface ProcessSignals {
  /**
   * From now on connections may be open: a stop waits for handlers. Before this call a stop ends
   * the process at once.
   */
  hold(): void;
  /** Hands over to handlers, and makes up for what was signalled before. */
  handle(handlers: ProcessHandlers): void;
  /** Whether a stop was signalled. */
  readonly isStopping: boolean;
}

/** Begins to follow. */
export function followSignals(): ProcessSignals {
  let handlers: ProcessHandlers | undefined;
  let isHeld = false;
  let isStopping = false;
  const missed = new Set<"reload" | "restart">();
  const end = (code: number): void => {
    handlers?.kill?.();
    process.exit(code);
  };
  const begin = ({ stop }: ProcessHandlers): void => {
    stop().then(
      () => process.exit(EXIT.done),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  const onStop = (signal: NodeJS.Signals): void => {
    // The second signal means now: what is under way is cut, and rows that did not reach the store
    // wait in the outbox.
    if (isStopping) return end(1);
    isStopping = true;
    if (handlers === undefined && !isHeld) {
      console.log(`${signal}: the start is ended; no connection was open.`);
      return end(EXIT.done);
    }
    console.log(`${signal}: finishing what is under way; once more ends at once.`);
    if (handlers !== undefined) begin(handlers);
  };
  const onSignal = (signal: "reload" | "restart"): void => {
    if (handlers === undefined) missed.add(signal);
    else handlers[signal]();
  };
  process.on("SIGTERM", onStop);
  process.on("SIGINT", onStop);
  process.on("SIGHUP", () => onSignal("reload"));
  process.on("SIGUSR2", () => onSignal("restart"));
  return {
    hold() {
      isHeld = true;
    },
    handle(given) {
      handlers = given;
      if (isStopping) begin(given);
      else for (const signal of missed) given[signal]();
      missed.clear();
    },
    get isStopping() {
      return isStopping;
    },
  };
}
