import { guardrailContract } from "@sluice/testing";
import { describe, it } from "vitest";
import guardrail from "./index.ts";

const texts = {
  denied: [
    "See PRJ-1234.",
    "prj-123456",
    "two: PRJ-1234 and PRJ-5678",
    "PRJ-１２３４",
    "PRJ\u200b-1234",
  ],
  allowed: ["PRJ-123", "PRJ-1234567", "APRJ-1234", "the project of 1234", ""],
};

describe("blocking", () => {
  guardrailContract(
    guardrail,
    { config: { on_match: "block", replacement: "" }, ...texts },
    { describe, it },
  );
});

describe("masking", () => {
  guardrailContract(
    guardrail,
    { config: { on_match: "mask", replacement: "[TICKET]" }, ...texts },
    { describe, it },
  );
});
