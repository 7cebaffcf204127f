/** Signals of the process that was started, from the first moment of its start on. */

import { EXIT } from "./exit.ts";

/** What signals lead to, once there is something to stop. */
export interface SignalHandlers {
  /** Finishes what is under way. The process ends when it resolves. */
  stop(): Promise<void>;
  /** Ends without waiting; the process ends with it. */
  kill?(): void;
  reload(): void;
  restart(): void;
}

/** Follows SIGTERM, SIGINT, SIGHUP and SIGUSR2. */
export interface ProcessSignals {
  /** From now on connections may be open: a stop waits for handlers. Before this call a stop ends the process at once. */
  hold(): void;
  /** Hands over to handlers, and makes up for what was signalled before. */
  handle(handlers: SignalHandlers): void;
  /** Whether a stop was signalled. */
  readonly isStopping: boolean;
}

/** Begins to follow. */
export function followSignals(): ProcessSignals {
  let handlers: SignalHandlers | undefined;
  let isHeld = false;
  let isStopping = false;
  const missed = new Set<"reload" | "restart">();
  const end = (code: number): void => {
    handlers?.kill?.();
    process.exit(code);
  };
  const begin = ({ stop }: SignalHandlers): void => {
    stop().then(
      () => process.exit(EXIT.done),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  const onStop = (signal: NodeJS.Signals): void => {
    // The second signal means now: what is under way is cut, and rows that did not reach the store wait in the outbox.
    if (isStopping) return end(1);
    isStopping = true;
    if (handlers === undefined && !isHeld) {
      console.log(`${signal}: the start is ended; no connection was open.`);
      return end(EXIT.done);
    }
    console.log(`${signal}: finishing what is under way; once more ends at once.`);
    if (handlers !== undefined) begin(handlers);
  };
  const onWish = (wish: "reload" | "restart"): void => {
    if (handlers === undefined) missed.add(wish);
    else handlers[wish]();
  };
  process.on("SIGTERM", onStop);
  process.on("SIGINT", onStop);
  process.on("SIGHUP", () => onWish("reload"));
  process.on("SIGUSR2", () => onWish("restart"));
  return {
    hold() {
      isHeld = true;
    },
    handle(given) {
      handlers = given;
      if (isStopping) begin(given);
      else for (const wish of missed) given[wish]();
      missed.clear();
    },
    get isStopping() {
      return isStopping;
    },
  };
}
