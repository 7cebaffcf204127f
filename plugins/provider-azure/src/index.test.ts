import { describe, expect, it } from "vitest";
import { type HttpCall, type PassthroughRequest, Secret } from "@sluice/contract";
import { fakeHost } from "@sluice/testing";
import type { AzureConfig } from "./config.ts";
import azure from "./index.ts";

const base = {
  endpoint: "https://r.openai.azure.com",
  api: "v1",
  authority: "https://login.microsoftonline.com",
  metadata_url: "http://169.254.169.254",
  scope: "https://cognitiveservices.azure.com/.default",
} as const;
const key = { api_key: new Secret("AZURE_KEY", "azure-key") };
const application = { tenant_id: "t", client_id: "c", client_secret: new Secret("S", "s") };

describe("credentials", () => {
  it.each<[string, Partial<AzureConfig>, RegExp]>([
    ["a key", key, /^$/],
    ["a token", { token: new Secret("T", "t") }, /^$/],
    ["an application", application, /^$/],
    ["none", {}, /no credential/],
    ["two", { ...key, ...application }, /more than one/],
    [
      "an application of a cluster",
      { tenant_id: "t", client_id: "c", federated_token_file: "/f" },
      /^$/,
    ],
    ["a machine", { credentials: "managed_identity" }, /^$/],
    ["a machine by one of its names", { credentials: "managed_identity", client_id: "c" }, /^$/],
    [
      "half an application",
      { tenant_id: "t", client_id: "c" },
      /client_secret or federated_token_file/,
    ],
    ["a secret alone", { client_secret: application.client_secret }, /tenant_id and client_id/],
    ["a file and no tenant", { client_id: "c", federated_token_file: "/f" }, /needs tenant_id as/],
    ["a secret and a file", { ...application, federated_token_file: "/f" }, /more than one/],
    ["a key and half an application", { ...key, client_id: "c" }, /client_id is no part/],
    [
      "a machine and a tenant",
      { credentials: "managed_identity", tenant_id: "t" },
      /tenant_id is no part/,
    ],
  ])("of %s", (_name, options, fault) => {
    const faults = azure.check?.({ ...base, ...options }) ?? [];
    expect(faults.map(({ message }) => message).join()).toMatch(fault);
  });

  it("of an application come from its tenant, in a header that is a secret", async () => {
    const provider = azure.create(
      { ...base, ...application },
      fakeHost({
        shared: (_key, make) =>
          Object.assign(make(), { get: async () => new Secret("S", "entra") }),
      }),
    );
    const call: HttpCall = {
      kind: "http",
      method: "POST",
      url: "https://r",
      headers: { a: "b" },
      body: "",
    };
    const completed = await provider.authorize?.(call, new AbortController().signal);
    expect(completed?.headers.a).toBe("b");
    const authorization = completed?.headers.authorization;
    expect(authorization instanceof Secret && authorization.reveal()).toBe("Bearer entra");
    expect(azure.create({ ...base, ...key }, fakeHost()).authorize).toBeUndefined();
  });
});

describe("a native call", () => {
  const native = (
    endpoint: string,
    query = "",
    options: Partial<AzureConfig> = {},
  ): HttpCall | undefined => {
    const request: PassthroughRequest = {
      method: "POST",
      endpoint,
      query,
      headers: { "api-key": "the-client's" },
      body: undefined,
    };
    return azure.create({ ...base, ...key, ...options }, fakeHost()).passthrough?.(request);
  };

  it.each([
    ["openai/v1/responses", "", "openai/v1/responses"],
    [
      "openai/deployments/d/chat/completions",
      "",
      "openai/deployments/d/chat/completions?api-version=2024-10-21",
    ],
    [
      "openai/deployments/d/chat/completions",
      "API-Version=x",
      "openai/deployments/d/chat/completions?API-Version=x",
    ],
    ["openai/files", "limit=1", "openai/files?limit=1&api-version=2024-10-21"],
  ])("to %s?%s has a version where it needs one", (endpoint, query, path) => {
    expect(native(endpoint, query)?.url).toBe(`https://r.openai.azure.com/${path}`);
  });

  it("has the configured version, and the operator's key alone", () => {
    const call = native("openai/files", "", { api_version: "2025-01-01-preview" });
    expect(call?.url).toContain("api-version=2025-01-01-preview");
    expect(call?.headers["api-key"]).toBe(key.api_key);
  });
});

it("makes one image a call with dall-e-3", () => {
  const { capabilities } = azure.create({ ...base, ...key }, fakeHost());
  expect(["dall-e-3", "gpt-image-1"].map((model) => capabilities.imagesPerCall?.(model))).toEqual([
    1,
    Infinity,
  ]);
});
