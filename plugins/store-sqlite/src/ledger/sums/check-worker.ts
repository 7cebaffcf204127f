/** The thread that compares sums with rows. It answers once. */

import { parentPort, workerData } from "node:worker_threads";
import { verifySums } from "./verify.ts";

const { file, fromMs, toMs } = workerData as {
  readonly file: string;
  readonly fromMs: number;
  readonly toMs: number;
};
const check = await verifySums(file, { fromMs, toMs }, new AbortController().signal);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has an origin, a thread has none.
parentPort?.postMessage(check);
