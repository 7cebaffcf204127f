/** The unit file of `deploy/systemd`. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./chart.ts";

const UNIT = join(ROOT, "deploy/systemd/sluice.service");
const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

describe.skipIf(!hasSystemd)("the unit of systemd", () => {
  it("exposes at most 2.0 of 10", () => {
    const { status, stdout, stderr } = spawnSync(
      "systemd-analyze",
      ["security", "--offline=true", "--threshold=20", UNIT],
      { encoding: "utf8" },
    );
    expect(stderr).toBe("");
    const exposure = Number(/exposure level for sluice.service: ([0-9.]+)/.exec(stdout)?.[1]);
    expect(exposure).toBeLessThanOrEqual(2);
    expect(status).toBe(0);
  });
});
