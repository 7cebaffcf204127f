/** The overview and the deployments with 1 worker. */

import { describe } from "vitest";
import { overviewTests } from "../support/listeners/overview.ts";

describe("with 1 worker", () => {
  overviewTests(1);
});
