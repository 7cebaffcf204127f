/**
 * Preloaded into a gateway under proof: at each SIGUSR2 it says on stderr, in a line of JSON, what
 * it holds.
 */

import { readdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

async function tell(): Promise<void> {
  // What is garbage goes first. Buffers are let go of behind a collection, hence the second one.
  for (let count = 0; count < 2 && globalThis.gc !== undefined; count += 1) {
    globalThis.gc();
    await pause(100);
  }
  const { rss, heapUsed } = process.memoryUsage();
  const held = {
    rss,
    heapUsed,
    handles: process.getActiveResourcesInfo().length,
    files: openFiles(),
  };
  process.stderr.write(`soak ${JSON.stringify(held)}\n`);
}

function openFiles(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return 0;
  }
}

process.on("SIGUSR2", () => void tell());
