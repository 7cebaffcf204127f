/** Starts the store's threads. */

import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * A thread has no compile cache of its own accord: without one, each would load a compiler of 40 MB
 * to strip the types of its files, and keep it.
 */
const ENTRY = `
  require("node:module").enableCompileCache?.();
  import(require("node:worker_threads").workerData.url);
`;

/**
 * Starts the module of that name beside this one. The thread needs nothing of the environment,
 * where credentials are.
 */
export function startThread(name: string, data: object, options: WorkerOptions = {}): Worker {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const { href: url } = new URL(`./${name}.${extension}`, import.meta.url);
  return new Worker(ENTRY, { ...options, eval: true, env: {}, workerData: { ...data, url } });
}
