/**
 * Ports for a gateway whose address must be known before it says it, or stay when all of its
 * workers end.
 */

import { once } from "node:events";
import { createServer } from "node:net";
import type { ProcessEnvironment } from "./gateway-process.ts";

/** Two ports that were free a moment ago, as the variables that a start reads. */
export async function freePorts(): Promise<
  ProcessEnvironment & { readonly SLUICE_PORT: string; readonly SLUICE_ADMIN_PORT: string }
> {
  const servers = [createServer(), createServer()];
  const ports: string[] = [];
  for (const server of servers) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ports.push(String((server.address() as { port: number }).port));
  }
  for (const server of servers) server.close();
  return { SLUICE_PORT: ports[0] ?? "", SLUICE_ADMIN_PORT: ports[1] ?? "" };
}
