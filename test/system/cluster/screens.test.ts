/** Routes of screens with 2 workers: one answer from both. */

import { describe } from "vitest";
import { guardrailReportTest } from "../support/listeners/guardrails.ts";
import { modelListTests } from "../support/listeners/models.ts";
import { playgroundTests } from "../support/listeners/playground.ts";
import { systemTests } from "../support/listeners/system.ts";

describe("the models of two workers", () => {
  modelListTests(2);
});

describe("the playground with 2 workers", () => {
  playgroundTests(2);
});

describe("the report of guardrails with 2 workers", () => {
  guardrailReportTest(2);
});

describe("the system with 2 workers", () => {
  systemTests(2);
});
