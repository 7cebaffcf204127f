/** Edits of the files over the admin listener, with several workers. */

import { describe } from "vitest";
import { writeTests } from "../support/configuration/writes.ts";

describe("with 2 workers", () => {
  writeTests(2, "on_save");
});
