import { providerContract } from "@sluice/testing";
import { describe, it } from "vitest";
import anthropic from "./index.ts";

providerContract({ describe, it }, anthropic, {
  fixtures: new URL("../fixtures/", import.meta.url),
  model: "claude-sonnet-4-5-20250929",
});
