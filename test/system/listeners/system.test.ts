import { describe } from "vitest";
import { systemTests } from "../support/listeners/system.ts";

describe("the system with 1 worker", () => {
  systemTests(1);
});
