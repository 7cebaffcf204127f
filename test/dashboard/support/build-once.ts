/** Builds the dashboard before the tests of a browser load it. */

import { buildDashboard, isStale } from "../../../core/dashboard/build.ts";

/** Runs once, before the first file. */
export default async function buildOnce(): Promise<void> {
  if (isStale()) await buildDashboard();
}
