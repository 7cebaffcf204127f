import { providerContract } from "@sluice/testing";
import { describe, it } from "vitest";
import compatible from "./index.ts";
import { PRESETS } from "./presets.ts";

// One suite for each preset: its own fixtures, all the rules, a table of its own.
describe.each(Object.keys(PRESETS))("preset %s", (preset) => {
  providerContract({ describe, it }, compatible, {
    fixtures: new URL(`../fixtures/${preset}/`, import.meta.url),
    readme: new URL(`../presets/${preset}.md`, import.meta.url),
    model: "model-1",
    config: {
      preset,
      api_key: "[secret]",
      ...(preset === "custom" ? { base_url: "http://127.0.0.1:9000/v1" } : {}),
    },
  });
});
