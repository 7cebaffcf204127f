/**
 * Commands one after the other in one process: a start of Node for each would be most of the time
 * of a test.
 */

import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { CommandProcess, CommandStart } from "../command-process.ts";

const SCRIPT = fileURLToPath(new URL("loop.ts", import.meta.url));

/** What became of a command. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs commands in order, each as if it were a process. */
export interface CommandRunner {
  run(start: CommandStart): Promise<Ran>;
  close(): void;
}

/** Starts the process. */
export function startCommandRunner(): CommandRunner {
  const child = fork(SCRIPT, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  let last: Promise<unknown> = Promise.resolve();
  const ask = async (start: CommandStart): Promise<Ran> => {
    const listening = new AbortController();
    const { signal } = listening;
    const answered = once(child, "message", { signal });
    const ended = once(child, "exit", { signal }).then(() =>
      Promise.reject(new Error("The process for commands has ended.")),
    );
    child.send(start);
    try {
      const [ran] = await Promise.race([answered, ended]);
      return ran as Ran;
    } finally {
      // One process answers hundreds of them: none may leave a listener behind.
      await Promise.allSettled([answered, ended, listening.abort()]);
    }
  };
  return {
    run(start) {
      const ran = last.then(() => ask(start));
      last = ran.catch(() => undefined);
      return ran;
    },
    close: () => void child.kill("SIGKILL"),
  };
}

let shared: CommandRunner | undefined;

/** Runs a command that ends by itself in the process that all tests of this one share. */
export function runShared(start: CommandStart): CommandProcess {
  shared ??= startCommandRunner();
  let ran: Ran | undefined;
  const ended = shared.run(start).then((outcome) => {
    ran = outcome;
    return { code: outcome.code, signal: null };
  });
  return {
    pid: 0,
    get stdout() {
      return ran?.out ?? "";
    },
    get stderr() {
      return ran?.error ?? "";
    },
    ended,
    signal: () => undefined,
  };
}
