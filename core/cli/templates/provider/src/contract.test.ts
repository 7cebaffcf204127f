import { providerContract } from "@sluice/testing";
import { describe, it } from "vitest";
import provider from "./index.ts";

providerContract({ describe, it }, provider, {
  fixtures: new URL("../fixtures/", import.meta.url),
  model: "acme-large",
});
