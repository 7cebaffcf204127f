import { join } from "node:path";
import { checkConfig } from "@sluice/engine";
import { Secret } from "@sluice/contract";
import { describe, expect, it } from "vitest";

const repository = join(import.meta.dirname, "../..");

function check(environment: Readonly<Record<string, string>>) {
  return checkConfig({ path: "config/gateway.yaml", cwd: repository, environment });
}

describe("the shipped configuration", () => {
  it("has no findings, and without a credential echo is what is left", async () => {
    const { findings, snapshot } = await check({});
    expect(findings).toEqual([]);
    const available = snapshot?.providers
      .filter(({ missing }) => missing.length === 0)
      .map(({ name }) => name);
    expect(available).toEqual(["echo"]);
    expect(snapshot?.notices).toContain(
      "provider openai is unavailable: ${env:OPENAI_API_KEY} is not set",
    );
    expect(snapshot?.notices).toContain(
      "model gpt-4o is not listed, and requests for it are 404: provider openai is unavailable",
    );
    expect(snapshot?.prices.find("echo", "whatever")).toMatchObject({ input: 0, output: 0 });
  });

  it("switches a provider on with one variable, and shows its value nowhere", async () => {
    const { snapshot } = await check({ OPENAI_API_KEY: "sk-real" });
    const openai = snapshot?.providers.find(({ name }) => name === "openai");
    expect(openai?.missing).toEqual([]);
    expect(openai?.options.api_key).toBeInstanceOf(Secret);
    expect(JSON.stringify(snapshot)).not.toContain("sk-real");
    expect(snapshot?.notices.join()).not.toContain("openai");
  });

  it("reads x-service-api-key before authorization", async () => {
    const { snapshot } = await check({});
    expect(snapshot?.server.authHeaders).toEqual(["x-service-api-key"]);
  });
});
