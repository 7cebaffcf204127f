/** The configuration in a database whose store is not open. */

import { type Log, servingRollout, type StoredConfiguration } from "@sluice/contract";
import { DatabaseError } from "pg";
import type { PostgresConfig } from "../config.ts";
import { connect } from "../connections.ts";
import { fleetStores } from "./stores.ts";

const UNDEFINED_TABLE = "42P01";

/**
 * Reads the configuration that serves all keys; `undefined` before the first one, also in a
 * database without tables. Rejects with what the driver throws, and with the signal's reason.
 */
export async function readConfiguration(
  { url, pooler, connections }: PostgresConfig,
  log: Log,
  signal: AbortSignal,
): Promise<StoredConfiguration | undefined> {
  const opened = connect({ url: url.reveal(), pooler, connections, log });
  const { promise: cut, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([servingOf(fleetStores(opened.writes).rollouts), cut]);
  } catch (error) {
    if (error instanceof DatabaseError && error.code === UNDEFINED_TABLE) return undefined;
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    await opened.end();
  }
}

async function servingOf(
  rollouts: ReturnType<typeof fleetStores>["rollouts"],
): Promise<StoredConfiguration | undefined> {
  const { record } = await rollouts.newest("store");
  const id = servingRollout(record);
  if (id === undefined) return undefined;
  const [serving, files] = await Promise.all([rollouts.find("store", id), rollouts.files(id)]);
  return serving && files && { id, contents: serving.contents, files };
}
