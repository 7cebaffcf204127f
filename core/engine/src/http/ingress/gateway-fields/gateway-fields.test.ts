import { describe, expect, it } from "vitest";
import { OWN_GATEWAY_FIELDS } from "@sluice/runtime/dialect";
import { fakeClient } from "@sluice/testing";
import { GATEWAY_FIELDS } from "./table.ts";
import { takeNativeFields } from "./gateway-fields.ts";

describe("the kit's list of the gateway's own fields", () => {
  it("holds every field that is checked here", () => {
    expect(OWN_GATEWAY_FIELDS.toSorted()).toEqual(
      Object.keys(GATEWAY_FIELDS)
        .filter((name) => name !== "model")
        .toSorted(),
    );
  });
});

describe("a native body", () => {
  it("is read for what gateways know, and keeps its metadata", () => {
    const body = {
      model: "claude",
      metadata: { user_id: "u1" },
      litellm_metadata: { tags: ["a"] },
      num_retries: 1,
      mock_response: "x",
      priority: 2,
    };
    const client = fakeClient({ "x-sluice-tags": "b", "x-sluice-timeout": "9" });
    expect(takeNativeFields(body, client)).toMatchObject({
      cut: ["litellm_metadata", "num_retries", "mock_response", "priority"],
      endUser: "u1",
      tags: ["a", "b"],
      timeoutMs: 9_000,
      fields: { num_retries: 1 },
      metadata: {},
    });
    expect(takeNativeFields(body, client, ["priority"]).cut).not.toContain("priority");
    expect(takeNativeFields({ ...body, user: "u2" }, client).endUser).toBe("u2");
  });

  it("may not say a gateway's field wrongly", () => {
    expect(() => takeNativeFields({ timeout: 0.1 }, fakeClient())).toThrow(
      expect.objectContaining({ param: "timeout" }),
    );
    expect(() => takeNativeFields({ timeout: 0.1 }, fakeClient(), ["timeout"])).not.toThrow();
  });
});
