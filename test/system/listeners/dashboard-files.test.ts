/** The files of the dashboard, of one process. */

import { describe } from "vitest";
import { dashboardFileTests } from "../support/listeners/dashboard-files.ts";

describe("the dashboard's files with 1 worker", () => {
  dashboardFileTests(1);
});
