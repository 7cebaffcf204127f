/**
 * Preloaded into a gateway under proof: at each SIGUSR2 it writes where its memory is to stderr, as
 * a line of JSON.
 */

import { setTimeout as pause } from "node:timers/promises";

async function tell(): Promise<void> {
  // With `--expose-gc` what is garbage goes first. Buffers are let go of behind a collection, hence
  // the second one.
  for (let count = 0; count < 2 && globalThis.gc !== undefined; count++) {
    globalThis.gc();
    await pause(200);
  }
  process.stderr.write(`memory ${JSON.stringify(process.memoryUsage())}\n`);
}

process.on("SIGUSR2", () => void tell());
