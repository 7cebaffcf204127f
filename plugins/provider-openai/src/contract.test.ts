import { providerContract } from "@sluice/testing";
import { describe, it } from "vitest";
import openai from "./index.ts";

providerContract({ describe, it }, openai, {
  fixtures: new URL("../fixtures/", import.meta.url),
  model: "gpt-4o-mini",
});
