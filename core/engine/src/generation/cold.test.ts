import { describe, expect, it } from "vitest";
import { AT, line, snapshotOf } from "../pipeline/snapshot.fixture.ts";
import { coldChanges } from "./cold.ts";

const live = snapshotOf();

describe("cold settings", () => {
  it.each([
    [
      "The setting server.port",
      { server: { ...live.server, port: 4001, places: { "": AT, port: line(3) } } },
      3,
    ],
    [
      "The setting server.max_body",
      { server: { ...live.server, maxBodyBytes: 1, places: { "": line(2) } } },
      2,
    ],
    ["The section store", { store: { ...live.store, options: { path: "x" }, at: line(7) } }, 7],
    ["The section shared", { shared: { ...live.shared, instances: 2, at: line(8) } }, 8],
    [
      "The section plugins",
      { plugins: [{ specifier: "./mine.ts", from: "/gateway.yaml", at: line(9) }] },
      9,
    ],
  ])("refuse a change of %s by its name and place", (name, change, at) => {
    const findings = coldChanges(live, snapshotOf(change));
    expect(findings).toHaveLength(1);
    expect(findings[0]?.message).toBe(`${name} cannot change while the gateway runs.`);
    expect(findings[0]?.at.line).toBe(at);
  });

  it("point at the plugin that is not the one that runs", () => {
    const specifiers = ["@sluice/standard@^1.0.0", "./mine.ts"];
    const [finding] = coldChanges(
      live,
      snapshotOf({
        plugins: specifiers.map((specifier, index) => ({
          specifier,
          from: "/gateway.yaml",
          at: line(20 + index),
        })),
      }),
    );
    expect(finding?.at.line).toBe(21);
  });

  it("say whether replacing the workers is enough", () => {
    const fixOf = (
      workers: number,
      change: Parameters<typeof snapshotOf>[0],
    ): string | undefined => {
      const server = { ...live.server, workers };
      return coldChanges(snapshotOf({ server }), snapshotOf({ server, ...change }))[0]?.fix;
    };
    const replaced = "Apply it with `sluice restart`, or undo the edit.";
    const started = "Stop the gateway and start it again to apply it, or undo the edit.";
    expect(fixOf(2, { plugins: [] })).toBe(replaced);
    expect(fixOf(2, { server: { ...live.server, workers: 2, maxBodyBytes: 1 } })).toBe(replaced);
    expect(fixOf(2, { server: { ...live.server, workers: 3 } })).toBe(started);
    expect(fixOf(2, { shared: { ...live.shared, instances: 2 } })).toBe(started);
    expect(fixOf(1, { plugins: [] })).toBe(started);
  });

  it("refuse all that changed at once", () => {
    expect(
      coldChanges(live, snapshotOf({ plugins: [], store: { ...live.store, use: "other" } })),
    ).toHaveLength(2);
  });

  it("do not mind another place in the file, nor anything that is hot", () => {
    const moved = snapshotOf({
      store: { ...live.store, at: line(50) },
      plugins: [{ specifier: "@sluice/standard@^1.0.0", from: "/gateway.yaml", at: line(51) }],
    });
    expect(
      coldChanges(live, snapshotOf({ server: { ...live.server, places: { "": line(40) } } })),
    ).toEqual([]);
    expect(coldChanges(live, moved)).toEqual([]);
    expect(coldChanges(live, snapshotOf({ digest: "other", notices: ["new"] }))).toEqual([]);
  });
});
