import { providerContract } from "@sluice/testing";
import { describe, it } from "vitest";
import bedrock from "./index.ts";
import { checkConverse } from "./converse-limits.fixture.ts";

providerContract({ describe, it }, bedrock, {
  fixtures: new URL("../fixtures/", import.meta.url),
  model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  config: { region: "us-east-1", api_key: "[secret]" },
  checkBody: checkConverse,
});
