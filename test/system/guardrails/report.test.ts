import { describe } from "vitest";
import { guardrailReportTest } from "../support/listeners/guardrails.ts";

describe("the report of guardrails", () => {
  guardrailReportTest(1);
});
