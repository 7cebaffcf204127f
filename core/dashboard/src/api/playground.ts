/** The playground: requests through the real routes, as a key. */

import type { AdminAnswer } from "@sluice/admin-api";

/** The routes that it can call. */
export type PlayRoutes = AdminAnswer<"GET /playground">;
