/**
 * The process behind `runner.ts`: runs the command line for each message, and answers with
 * what it printed.
 */

import { enableCompileCache, flushCompileCache } from "node:module";
import type { CommandStart } from "../command-process.ts";

const MAIN = new URL("../../../../core/cli/src/main.ts", import.meta.url).href;

enableCompileCache();
let runs = 0;

process.on("message", (start: CommandStart) => {
  void run(start).then((ran) => {
    process.send?.(ran);
    // The process is killed at the end of its tests.
    if (runs === 1) flushCompileCache();
  });
});

async function run({ args, folder, environment }: CommandStart): Promise<object> {
  const printed = { out: "", error: "" };
  const { stdout, stderr } = process;
  const writes = [stdout.write, stderr.write] as const;
  const into = (name: "out" | "error") => (text: string | Uint8Array) => {
    printed[name] += String(text);
    return true;
  };
  stdout.write = into("out");
  stderr.write = into("error");
  process.argv.splice(2, Infinity, ...args);
  process.env = environment;
  process.exitCode = 0;
  try {
    process.chdir(folder);
    // The module runs the command when it is loaded: with another query it is loaded anew, and
    // alone.
    await import(`${MAIN}?run=${(runs += 1)}`);
  } catch (error) {
    process.exitCode = 70;
    printed.error += String(error);
  } finally {
    [stdout.write, stderr.write] = writes;
  }
  return { code: process.exitCode, ...printed };
}
