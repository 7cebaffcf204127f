import { describe, expect, it } from "vitest";
import {
  type HttpCall,
  type JsonObject,
  type PassthroughRequest,
  type Provider,
  Secret,
} from "@sluice/contract";
import { fakeHost, makeProvider } from "@sluice/testing";
import type { CompatibleConfig } from "./config.ts";
import compatible from "./index.ts";
import { PRESETS, type PresetName } from "./presets.ts";

const provider = (config: JsonObject): Provider => makeProvider(compatible, config);
const faults = (config: Partial<CompatibleConfig>): string =>
  (compatible.check?.({ preset: "custom", embedding_formats: ["float"], ...config }) ?? [])
    .map(({ message }) => message)
    .join();

describe("options", () => {
  it.each<[PresetName, Partial<CompatibleConfig>, RegExp]>([
    ["groq", { api_key: new Secret("K", "k") }, /^$/],
    ["groq", {}, /needs a key/],
    ["groq", { base_url: "http://127.0.0.1:1" }, /^$/],
    ["ollama", {}, /^$/],
    ["custom", {}, /has no address/],
    [
      "custom",
      { base_url: "http://127.0.0.1:1", headers: { Authorization: "Bearer x" } },
      /header Authorization itself/,
    ],
  ])("of %s", (preset, config, fault) => {
    expect(faults({ preset, ...config })).toMatch(fault);
  });
});

describe("prices", () => {
  it("are the preset's, or those that the operator names", () => {
    expect(provider({ preset: "xai", api_key: "k" }).priceAs).toBe("x-ai");
    expect(provider({ preset: "vllm" }).priceAs).toBeUndefined();
    expect(provider({ preset: "vllm", price_as: "together" }).priceAs).toBe("together");
  });
});

describe("capabilities", () => {
  it("say what no model of a preset can do, and leave the rest open", () => {
    const { capabilities } = provider({ preset: "deepseek", api_key: "k" });
    expect(
      (["schema", "images", "tools"] as const).map((feature) =>
        capabilities.supports?.(feature, "m"),
      ),
    ).toEqual([false, false, undefined]);
    expect(provider({ preset: "perplexity", api_key: "k" }).capabilities.tools).toBe(false);
  });

  it("refuse no parameter that they rename", () => {
    const refusing = (Object.keys(PRESETS) as PresetName[]).filter((preset) => {
      const { parameters } = provider({
        preset,
        api_key: "k",
        base_url: "http://127.0.0.1:1",
      }).capabilities;
      return parameters?.includes("max_completion_tokens") !== true;
    });
    expect(refusing).toEqual([]);
  });
});

describe("a native call", () => {
  it("goes to the preset's address with the operator's key and headers", () => {
    const made = compatible.create(
      {
        preset: "groq",
        api_key: new Secret("K", "the-key"),
        headers: { "x-team": "a" },
        embedding_formats: ["float"],
      },
      fakeHost(),
    );
    const request: PassthroughRequest = {
      method: "GET",
      endpoint: "openai/v1/models",
      query: "a=b",
      headers: { authorization: "the-client's" },
      body: undefined,
    };
    const call = made.passthrough?.(request) as HttpCall;
    expect(call.url).toBe("https://api.groq.com/openai/v1/models?a=b");
    expect((call.headers.authorization as Secret).reveal()).toBe("Bearer the-key");
    expect(call.headers["x-team"]).toBe("a");
  });
});
