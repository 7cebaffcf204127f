/**
 * Commands one after the other in one process of their own: a start of Node for each would be most
 * of the time of a test.
 */

import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { environmentOf, type ProcessEnvironment } from "./gateway-process.ts";

const SCRIPT = fileURLToPath(new URL("command-loop.ts", import.meta.url));

/** What became of a command. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/**
 * Runs commands in order, each as if it were a process: its arguments, its folder, its environment.
 */
export interface CommandHost {
  run(args: readonly string[], folder: string, environment?: ProcessEnvironment): Promise<Ran>;
  close(): void;
}

/** Starts the process. */
export function startCommandHost(): CommandHost {
  const child = fork(SCRIPT, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  let last: Promise<unknown> = Promise.resolve();
  const ask = async (message: object): Promise<Ran> => {
    const listening = new AbortController();
    const { signal } = listening;
    const answered = once(child, "message", { signal });
    const ended = once(child, "exit", { signal }).then(() =>
      Promise.reject(new Error("The process for commands has ended.")),
    );
    child.send(message);
    try {
      const [ran] = await Promise.race([answered, ended]);
      return ran as Ran;
    } finally {
      // One process answers hundreds of them: none may leave a listener behind.
      await Promise.allSettled([answered, ended, listening.abort()]);
    }
  };
  return {
    run(args, folder, environment = {}) {
      const ran = last.then(() => ask({ args, folder, environment: environmentOf(environment) }));
      last = ran.catch(() => undefined);
      return ran;
    },
    close: () => void child.kill("SIGKILL"),
  };
}
