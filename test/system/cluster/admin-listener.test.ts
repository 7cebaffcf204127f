/** The admin listener of several workers: the supervisor answers for them. */

import { describe } from "vitest";
import { adminListenerTests } from "../support/listeners/admin-listener.ts";

describe("with 2 workers", () => {
  adminListenerTests(2);
});
