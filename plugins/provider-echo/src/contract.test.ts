import { providerContract } from "@sluice/testing";
import { describe, it } from "vitest";
import echo from "./index.ts";

providerContract({ describe, it }, echo, {
  fixtures: new URL("../fixtures/", import.meta.url),
  model: "echo",
});
