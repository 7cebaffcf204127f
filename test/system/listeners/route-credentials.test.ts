/** Credentials of every admin route with 1 worker. */

import { describe } from "vitest";
import { routeCredentialTests } from "../support/listeners/route-credentials.ts";

describe("with 1 worker", () => {
  routeCredentialTests(1);
});
