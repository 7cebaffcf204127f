import { describe, expect, it } from "vitest";

import { brokenCases } from "./broken.fixture.ts";
import { formatFinding } from "../finding.ts";
import { sound, TestFolder } from "../load.fixture.ts";

describe("findings", () => {
  it("says nothing of the sound configuration that the table breaks", () => {
    using folder = new TestFolder(sound);
    expect(folder.load({ OPENAI_API_KEY: "key" }).findings).toEqual([]);
  });

  it.each(brokenCases)("explains $title", ({ files, environment, findings }) => {
    using folder = new TestFolder({ ...sound, ...files });
    const result = folder.load({ OPENAI_API_KEY: "key", ...environment });
    expect(result.snapshot).toBeUndefined();
    expect(
      result.findings.map((finding) => formatFinding(finding).replaceAll(folder.path, "ROOT")),
    ).toEqual(findings);
  });

  it("never quotes a credential or the value of a reference", () => {
    using folder = new TestFolder({
      ...sound,
      "config/gateway.yaml": `${sound["config/gateway.yaml"]}keys: [{ alias: ci, key: sk-abcdefghijklmnopqrstuvwx, models: ["\${env:PRIVATE}"] }]\n`,
    });
    const text = JSON.stringify(
      folder.load({ OPENAI_API_KEY: "key", PRIVATE: "private-value" }).findings,
    );
    expect(text).toContain("${env:PRIVATE}");
    expect(text).not.toMatch(/private-value|sk-abc/);
  });
});
