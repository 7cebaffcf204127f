import { providerContract } from "@sluice/testing";
import { describe, it } from "vitest";
import azure from "./index.ts";

providerContract({ describe, it }, azure, {
  fixtures: new URL("../fixtures/", import.meta.url),
  model: "gpt-4o",
  config: { endpoint: "https://my-resource.openai.azure.com", api_key: "[secret]" },
});
