import { describe, expect, it } from "vitest";
import { documentOf } from "@sluice/kit";
import { fakeClient } from "@sluice/testing";
import { readDeployment, withDeployment } from "./deployment.ts";

const read = (provider: string, deployment: string) =>
  readDeployment(
    fakeClient({}, { parameters: { provider, deployment } }),
    (name) => name === "azure-eu",
  );

describe("a deployment in the path", () => {
  it("is nothing on a route without one", () => {
    expect(readDeployment(fakeClient(), () => true)).toBeUndefined();
  });

  it.each([
    ["ref", "dall-e-3", "dall-e-3", []],
    ["ref", "openai/gpt-4o", "openai/gpt-4o", []],
    ["openai", "gpt-4o", "gpt-4o", ["openai/gpt-4o"]],
    ["azure-eu", "ft%3Agpt-4o%2Fx", "ft:gpt-4o/x", ["azure-eu/ft:gpt-4o/x"]],
  ])("under /%s is called %s", (provider, deployment, model, otherModels) => {
    expect(read(provider, deployment)).toEqual({ model, otherModels });
  });

  it("does not exist under a prefix that is not configured", () => {
    expect(() => read("azure-us", "x")).toThrow(
      expect.objectContaining({ code: "route_not_found" }) as Error,
    );
  });

  it.each(["%", "%zz", "%ff"])("cannot be %s", (deployment) => {
    expect(() => read("ref", deployment)).toThrow(
      expect.objectContaining({ code: "invalid_field", param: "deployment" }) as Error,
    );
  });

  it("wins over the body's model, and stands for one that is missing", () => {
    const deployment = { model: "a", otherModels: [] };
    expect(withDeployment(documentOf('{"model":"b","n":1}'), deployment).bytes).toBe(
      '{"model":"a","n":1}',
    );
    expect(withDeployment(documentOf('{"n":12345678901234567890}'), deployment).bytes).toBe(
      '{"n":12345678901234567890,"model":"a"}',
    );
  });
});
