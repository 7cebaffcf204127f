/**
 * Watches plugins while they are loaded, made and shown their samples: code that never pauses is
 * named and bounded.
 */

import { extname } from "node:path";
import { Worker } from "node:worker_threads";

/** What becomes of a process that a plugin holds. */
export type WhenHeld =
  /** A finding is printed and the process ends with exit code 1. */
  | { readonly kind: "end"; readonly json: boolean }
  /** A line of the log says it, and the supervising process reads it, where there is one. */
  | { readonly kind: "report"; readonly reportFd: number | undefined };

/** What the watching thread begins with. */
export interface StartWatchData {
  /** One number: the beats of the event loop. */
  readonly beats: Int32Array<SharedArrayBuffer>;
  readonly heldMs: number;
  readonly whenHeld: WhenHeld;
  /** Prefixes of URLs: the code of the program that starts the gateway, which is no plugin. */
  readonly ownUrls: readonly string[];
}

/** Plugins may hold the event loop so long before they are served with, in milliseconds. */
const HELD_MS = 10_000;
const BEAT_MS = 250;
const THREAD_HEAP_MB = 64;

/** A thread has no compile cache of its own accord. */
const THREAD_ENTRY = `
  require("node:module").enableCompileCache?.();
  import(require("node:worker_threads").workerData.url);
`;

/**
 * Watches until the function that it returns is called, which resolves when the thread has ended.
 * `ownUrls` are prefixes of URLs: the code of the program that starts the gateway, which is no
 * plugin.
 */
export function watchStart(
  whenHeld: WhenHeld,
  ownUrls: readonly string[],
  heldMs = HELD_MS,
): () => Promise<void> {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: StartWatchData = { beats, heldMs, whenHeld, ownUrls };
  const url = new URL(`./start-watch-thread${extname(import.meta.url)}`, import.meta.url).href;
  const thread = new Worker(THREAD_ENTRY, {
    eval: true,
    workerData: { ...workerData, url },
    name: "start-watch",
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB, maxYoungGenerationSizeMb: 1 },
  });
  // Without it the work goes on unwatched.
  thread.on("error", () => undefined);
  thread.unref();
  const timer = setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await thread.terminate();
  };
}
