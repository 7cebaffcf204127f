/** Sentinel: asks where the master is. */

import { errorMessage } from "@sluice/contract";
import type { SentinelEndpoints, ServerAddress } from "./endpoints.ts";

/** One question on a connection of its own. */
interface Asker {
  ask(...parts: readonly string[]): Promise<unknown>;
}

/**
 * The address of the master, by the first Sentinel that knows it. Rejects with the reason of each
 * when none does. Each is asked with the deadline of a connection.
 */
export async function locateMaster(
  { sentinels, master }: SentinelEndpoints,
  connectTo: (address: ServerAddress) => Asker,
): Promise<ServerAddress> {
  const reasons: string[] = [];
  for (const sentinel of sentinels) {
    const name = `${sentinel.host}:${sentinel.port}`;
    try {
      const asker = connectTo(sentinel);
      const reply = await asker.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", master);
      if (Array.isArray(reply)) return { host: String(reply[0]), port: Number(reply[1]) };
      reasons.push(`${name} knows no master ${master}`);
    } catch (error) {
      reasons.push(`${name}: ${errorMessage(error)}`);
    }
  }
  throw new Error(`No Sentinel names the master ${master}: ${reasons.join("; ")}.`);
}
