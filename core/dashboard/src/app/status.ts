/** What runs, read every two seconds for the top bar and for the notices. */

import type { UseQueryResult } from "@tanstack/preact-query";
import type { ApiError } from "../api/api-error.ts";
import type { ConfigStatus } from "../api/config.ts";
import { useRead } from "./live.ts";
import { useMay } from "./may.ts";

/** `GET /config/status`, where the session may read it. */
export function useStatus(): UseQueryResult<ConfigStatus, ApiError> {
  return useRead<ConfigStatus>(
    "/config/status",
    {},
    { isLive: true, enabled: useMay()("status.read") },
  );
}
