/** Admin route for a restart, where one process is the whole gateway. */

import { GatewayError } from "@sluice/contract";
import { type AdminRoutes, atWhole } from "../access/route.ts";

/** The message of a single process, which cannot replace itself. */
export const SINGLE_PROCESS =
  "This gateway is a single process and cannot restart without a gap. Stop it and start it again. With server.workers of 2 or more, or with sluice serve --supervised, it replaces its workers one by one (docs/workers.md).";

/**
 * `POST /restart`. Of several workers the supervisor restarts, and asks a worker whether the caller
 * may. A single process refuses: no other process could serve meanwhile or start it again.
 */
export function restartRoute(): AdminRoutes {
  return {
    "POST /restart": atWhole("gateway.restart", async (request) => {
      if (request.isForwarded)
        return request.audit.attempt(request, {}, () => ({ outcome: "allowed" }));
      throw new GatewayError("not_found", SINGLE_PROCESS);
    }),
  };
}
