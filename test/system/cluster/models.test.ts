import { describe } from "vitest";
import { modelListTests } from "../support/listeners/models.ts";

describe("the models of two workers", () => {
  modelListTests(2);
});
