/** A store on a database of a proof's own. */

import { type Log, Secret, type Store } from "@sluice/contract";
import postgres from "@sluice/store-postgres";

const quiet: Log = { debug() {}, info() {}, warn: console.warn, error: console.error };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Opens it, and makes the schema. `pooler: transaction` leaves out the notifications. */
export async function openStore(
  url: string,
  pooler: "none" | "transaction" = "none",
): Promise<Store> {
  const config = {
    url: new Secret("url", url),
    pooler,
    connections: 4,
    migrate: "auto",
  } as const;
  const store = postgres.create(config, { log: quiet, clock, dataDirectory: "/nonexistent" });
  await store.start(AbortSignal.timeout(60_000));
  return store;
}
