/** Edits of the files over the admin listener, with one process. */

import { describe } from "vitest";
import { writeTests } from "../support/configuration/writes.ts";

describe("with 1 worker", () => {
  writeTests(1, "on_request");
});
