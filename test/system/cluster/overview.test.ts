/** The overview and the deployments with 2 workers: one answer from both. */

import { describe } from "vitest";
import { overviewTests } from "../support/listeners/overview.ts";

describe("with 2 workers", () => {
  overviewTests(2);
});
