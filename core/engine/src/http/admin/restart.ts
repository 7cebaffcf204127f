/** Admin route for a restart, where one process is the whole gateway. */

import { GatewayError } from "@sluice/spec";
import type { AdminRoutes } from "./app.ts";

/** What a single process says to who wants it replaced. */
export const SINGLE_PROCESS =
  "This gateway is a single process, which nobody could replace without a gap: stop it and start it again. Started with server.workers of 2 or more, or with sluice serve --supervised, it has workers that are replaced one by one (docs/workers.md).";

/** `POST /restart`: with a single process there is nobody who could serve meanwhile, and nobody who would start it again. */
export function restartRoute(): AdminRoutes {
  return {
    async "POST /restart"() {
      throw new GatewayError("not_found", SINGLE_PROCESS);
    },
  };
}
