/** Sessions of browsers with 2 workers. */

import { describe } from "vitest";
import { sessionTests } from "../support/listeners/sessions.ts";

describe("with 2 workers", () => {
  sessionTests(2);
});
