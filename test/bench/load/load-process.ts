/** The runner's handle on the load process. */

import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { CAN_PIN, pinned } from "../cores.ts";
import type {
  FromLoad,
  PacedMessage,
  PacedResultMessage,
  PrepareMessage,
  ReadyMessage,
  SliceMessage,
  ToLoad,
} from "../messages.ts";

const SCRIPT = fileURLToPath(new URL("load.ts", import.meta.url));
const ANSWER_LIMIT_MS = 30_000;

/** The load process. One slice at a time. */
export interface LoadProcess {
  readonly pid: number;
  /** Opens the connections and warms them. Resolves with one reply. */
  prepare(message: Omit<PrepareMessage, "kind">): Promise<ReadyMessage>;
  /** Sends the requests and closes the connections. */
  go(count: number): Promise<SliceMessage>;
  /** Sends requests at a fixed rate and closes the connections. */
  paced(load: Omit<PacedMessage, "kind">): Promise<PacedResultMessage>;
  stop(): void;
}

/** Starts the load process on the core of the load. Each of its answers may take so long. */
export function startLoad(limitMs = ANSWER_LIMIT_MS): LoadProcess {
  const [execPath, leading] = pinned("load", process.execPath, []);
  const child = fork(SCRIPT, [], CAN_PIN ? { execPath, execArgv: [...leading] } : {});
  return {
    pid: child.pid ?? 0,
    prepare: (message) => ask(child, { kind: "prepare", ...message }, "ready", limitMs),
    go: (count) => ask(child, { kind: "go", count }, "slice", limitMs),
    paced: (paced) => ask(child, { kind: "send-paced", ...paced }, "paced", limitMs),
    stop: () => void child.kill(),
  };
}

/**
 * Sends a message and waits for its answer. Rejects on a fault, on the wrong answer, and after
 * `limitMs`.
 */
function ask<K extends "ready" | "slice" | "paced">(
  child: ChildProcess,
  message: ToLoad,
  kind: K,
  limitMs: number,
): Promise<Extract<FromLoad, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const settle = (answer: FromLoad | Error) => {
      clearTimeout(limit);
      child.off("message", settle);
      child.off("exit", onExit);
      if (answer instanceof Error) reject(answer);
      else if (answer.kind === kind) resolve(answer as Extract<FromLoad, { kind: K }>);
      else
        reject(
          new Error(answer.kind === "fault" ? answer.message : `The load answered ${answer.kind}.`),
        );
    };
    const onExit = () => settle(new Error("The load process ended."));
    const limit = setTimeout(
      () => settle(new Error(`The target did not finish within ${limitMs} ms.`)),
      limitMs,
    );
    child.on("message", settle);
    child.once("exit", onExit);
    child.send(message);
  });
}
