/** What runs, read every five seconds for the top bar and for the notices. */

import type { UseQueryResult } from "@tanstack/preact-query";
import type { ApiError } from "../api/api-error.ts";
import type { ConfigStatus } from "../api/config.ts";
import { useRead } from "./live.ts";
import { useMay } from "./may.ts";

const EVERY_MS = 5_000;

/** `GET /config/status`, where the session may read it. */
export function useStatus(): UseQueryResult<ConfigStatus, ApiError> {
  return useRead<ConfigStatus>(
    "/config/status",
    {},
    { isLive: true, everyMs: EVERY_MS, enabled: useMay()("status.read") },
  );
}
