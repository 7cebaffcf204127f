import { describe, expect, it } from "vitest";
import { modelOf, providerOf, snapshotOf } from "@sluice/engine/snapshots";
import { announcement } from "./welcome.ts";

const KEY = "sk-the-master-key-of-these-tests";

function said(
  isTerminal: boolean,
  models = [modelOf("embed", ["a/e"], { mode: "embedding" })],
  notices = ["provider gone is unavailable"],
): string {
  const snapshot = snapshotOf({
    providers: [providerOf("a"), providerOf("gone", { missing: ["${env:KEY}"] })],
    models: [
      ...models,
      modelOf("a/*", ["a/*"]),
      modelOf("far", ["gone/m"]),
      modelOf("chat", ["a/m"]),
      modelOf("last", ["a/m"]),
    ],
    notices,
  });
  const installation = {
    masterKey: KEY,
    isNewMasterKey: true,
    masterKeyFile: "/data/master.key",
    pepper: Buffer.alloc(32),
  };
  const urls = { publicUrl: "http://127.0.0.1:4000", adminUrl: "http://127.0.0.1:4001" };
  return announcement({ ...urls, installation, snapshot }, isTerminal);
}

describe("what a start says", () => {
  it("shows the key once on a terminal, with a request for the first chat model that is available", () => {
    expect(said(true)).toContain(`  ${KEY}\n`);
    expect(said(true)).toContain('{"model":"chat",');
    expect(said(true)).toContain("Bearer $(cat /data/master.key)");
  });

  it("is one JSON line without the key elsewhere", () => {
    const line = said(false);
    expect(line).not.toContain("\n");
    expect(line).not.toContain(KEY);
    expect(JSON.parse(line)).toMatchObject({
      level: 30,
      msg: "Sluice listens on http://127.0.0.1:4000, for administration on http://127.0.0.1:4001.",
      master_key_file: "/data/master.key",
      notes: ["provider gone is unavailable"],
    });
  });

  it("counts notes on a terminal when they would hide the key, and lists them elsewhere", () => {
    const many = Array.from({ length: 9 }, (_, index) => `provider p${index} is unavailable`);
    expect(said(true)).toContain("  note: provider gone is unavailable\n");
    expect(said(true, undefined, many)).toContain("  9 notes, ");
    expect(said(true, undefined, many)).not.toContain("p0");
    expect(JSON.parse(said(false, undefined, many))).toMatchObject({ notes: many });
  });
});
