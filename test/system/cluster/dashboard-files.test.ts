/** The files of the dashboard with 2 workers: the supervisor's process answers. */

import { describe } from "vitest";
import { dashboardFileTests } from "../support/listeners/dashboard-files.ts";

describe("the dashboard's files with 2 workers", () => {
  dashboardFileTests(2);
});
