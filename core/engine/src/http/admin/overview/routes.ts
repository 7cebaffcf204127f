/** `GET /overview`: how the gateway is, in one answer. */

import type { Clock } from "@sluice/contract";
import { type AdminRoutes, atWhole } from "../../access/route.ts";
import { invalid } from "../fields.ts";
import { overviewOf } from "./join.ts";
import { overviewPart, type OverviewParts } from "./part.ts";

const MINUTE_MS = 60_000;
const WINDOWS: Readonly<Record<string, number>> = {
  "15m": 15 * MINUTE_MS,
  "1h": 60 * MINUTE_MS,
  "6h": 360 * MINUTE_MS,
  "24h": 1_440 * MINUTE_MS,
};

/** The route. The supervisor of workers gets the part of each, and joins them itself. */
export function overviewRoute(parts: OverviewParts & { readonly clock: Clock }): AdminRoutes {
  return {
    "GET /overview": atWhole("overview.read", async ({ query, isForwarded }) => {
      const windowMs = WINDOWS[query.get("window") || "1h"];
      if (windowMs === undefined)
        throw invalid(
          "window",
          `The query parameter window must be one of: ${Object.keys(WINDOWS).join(", ")}.`,
        );
      const part = overviewPart(windowMs, parts.clock.now(), parts);
      return isForwarded ? part : overviewOf([part], []);
    }),
  };
}
