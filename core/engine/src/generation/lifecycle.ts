/** Starts and stops the instances of plugins, each within a deadline. */

import type { Lifecycle } from "@sluice/contract";
import { within } from "@sluice/kit";

const START_TIMEOUT_MS = 10_000;
/**
 * Half the time after which the supervisor kills a worker that stops: the last rows still reach the
 * store.
 */
const STOP_TIMEOUT_MS = 5_000;

/**
 * Starts an instance. Rejects when it fails or exceeds its deadline; the signal is aborted then.
 */
export async function startInstance(instance: Lifecycle, name: string): Promise<void> {
  if (instance.start === undefined) return;
  const controller = new AbortController();
  await within(START_TIMEOUT_MS, instance.start(controller.signal), () => {
    const error = new Error(`${name} did not start within ${START_TIMEOUT_MS} ms.`);
    controller.abort(error);
    throw error;
  });
}

/**
 * Stops an instance. Rejects when it fails or exceeds its deadline: the next instance is stopped
 * without it.
 */
export async function stopInstance(instance: Lifecycle, name: string): Promise<void> {
  if (instance.stop === undefined) return;
  await within(STOP_TIMEOUT_MS, instance.stop(), () => {
    throw new Error(`${name} did not stop within ${STOP_TIMEOUT_MS} ms.`);
  });
}
