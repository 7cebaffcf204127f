/** Sessions of browsers with 1 worker. */

import { describe } from "vitest";
import { sessionTests } from "../support/listeners/sessions.ts";

describe("with 1 worker", () => {
  sessionTests(1);
});
