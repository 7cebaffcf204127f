import { providerContract } from "@sluice/testing";
import { describe, it } from "vitest";
import stability from "./index.ts";

providerContract({ describe, it }, stability, {
  fixtures: new URL("../fixtures/", import.meta.url),
  model: "stable-image-core",
});
