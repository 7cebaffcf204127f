import { describe } from "vitest";
import { modelListTests } from "../support/listeners/models.ts";

describe("the models of one process", () => {
  modelListTests(1);
});
