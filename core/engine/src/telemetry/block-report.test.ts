import { describe, expect, it } from "vitest";
import { type BlockFrame, type CodeOwner, GATEWAY_CODE, reportOf } from "./block-report.ts";

const OWNERS: readonly CodeOwner[] = [
  { name: "mine", url: "file:///srv/plugins/mine.ts" },
  { name: "@acme/bundle", url: "file:///srv/node_modules/@acme/bundle/" },
  { name: "inner", url: "file:///srv/node_modules/@acme/bundle/node_modules/inner/" },
  { name: GATEWAY_CODE, url: "file:///srv/node_modules/@sluice/engine/" },
];

const frame = (url: string, name = "run", line = 7): BlockFrame => ({ function: name, url, line });
const ENGINE = frame("file:///srv/node_modules/@sluice/engine/src/compose.ts", "runFrom");
const LIBRARY = frame("file:///srv/node_modules/lib/index.js", "parse");
const NODE = frame("node:child_process", "execFileSync");

describe("the report of a block", () => {
  it.each<[string, BlockFrame[], string, string | undefined]>([
    [
      "a plugin's file",
      [frame("file:///srv/plugins/mine.ts"), ENGINE],
      "mine",
      "run (file:///srv/plugins/mine.ts:7)",
    ],
    [
      "what a plugin called",
      [NODE, LIBRARY, frame("file:///srv/plugins/mine.ts")],
      "mine",
      "run (file:///srv/plugins/mine.ts:7)",
    ],
    [
      "the gateway's code below a plugin's",
      [ENGINE, frame("file:///srv/plugins/mine.ts", "")],
      "mine",
      "(anonymous) (file:///srv/plugins/mine.ts:7)",
    ],
    [
      "any file of a package",
      [frame("file:///srv/node_modules/@acme/bundle/src/a.js")],
      "@acme/bundle",
      "run (file:///srv/node_modules/@acme/bundle/src/a.js:7)",
    ],
    [
      "a package in another's folder",
      [frame("file:///srv/node_modules/@acme/bundle/node_modules/inner/a.js")],
      "inner",
      "run (file:///srv/node_modules/@acme/bundle/node_modules/inner/a.js:7)",
    ],
    [
      "the gateway alone",
      [NODE, ENGINE],
      GATEWAY_CODE,
      "runFrom (file:///srv/node_modules/@sluice/engine/src/compose.ts:7)",
    ],
    ["a library alone", [LIBRARY], "unknown", "parse (file:///srv/node_modules/lib/index.js:7)"],
    [
      "a neighbour of a plugin's file",
      [frame("file:///srv/plugins/mine.ts.old")],
      "unknown",
      "run (file:///srv/plugins/mine.ts.old:7)",
    ],
    ["nothing", [], "unknown", undefined],
  ])("names whose code %s is", (_what, frames, plugin, at) => {
    expect(reportOf(300, frames, OWNERS)).toMatchObject({ blockedMs: 300, plugin, at });
  });

  it("tells eight functions at most", () => {
    expect(
      reportOf(
        300,
        Array.from({ length: 40 }, () => LIBRARY),
        OWNERS,
      ).stack,
    ).toHaveLength(8);
  });
});
