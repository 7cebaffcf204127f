/** Commands of a test, one after the other in one process. */

import { type Ran, startCommandRunner } from "./commands/runner.ts";
import { environmentOf, type ProcessEnvironment } from "./gateway-process.ts";

export type { Ran } from "./commands/runner.ts";

/** Runs commands in order, each as if it were a process, with the environment of the tests. */
export interface CommandHost {
  run(args: readonly string[], folder: string, environment?: ProcessEnvironment): Promise<Ran>;
  close(): void;
}

/** Starts the process. */
export function startCommandHost(): CommandHost {
  const { run, close } = startCommandRunner();
  return {
    run: (args, folder, environment = {}) =>
      run({ args, folder, environment: environmentOf(environment) }),
    close,
  };
}
