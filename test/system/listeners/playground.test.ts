import { describe } from "vitest";
import { playgroundTests } from "../support/listeners/playground.ts";

describe("the playground with 1 worker", () => {
  playgroundTests(1);
});
