/** Credentials of every admin route with 2 workers. */

import { describe } from "vitest";
import { routeCredentialTests } from "../support/listeners/route-credentials.ts";

describe("with 2 workers", () => {
  routeCredentialTests(2);
});
