/** `/health/live` and `/health/ready`: a status without details, for callers without a key. */

import type { FixedPage } from "./egress/page.ts";

/** The page of a health path; `undefined` for every other path. */
export function healthPage(path: string, isReady: () => boolean): FixedPage | undefined {
  const isHealthy =
    path === "/health/live" ? true : path === "/health/ready" ? isReady() : undefined;
  if (isHealthy === undefined) return undefined;
  return {
    status: isHealthy ? 200 : 503,
    type: "application/json",
    body: isHealthy ? '{"status":"ok"}' : '{"status":"unavailable"}',
  };
}
