/** Admin route for a restart, where one process is the whole gateway. */

import { GatewayError } from "@sluice/spec";
import type { AdminRoutes } from "./app.ts";

/** `POST /restart`: with a single process there is nobody who could serve meanwhile, and nobody who would start it again. */
export function restartRoute(): AdminRoutes {
  return {
    async "POST /restart"() {
      throw new GatewayError(
        "not_found",
        "This gateway is a single process. Set server.workers to 2 or more, or start it with sluice serve --supervised; then workers are replaced one by one.",
      );
    },
  };
}
