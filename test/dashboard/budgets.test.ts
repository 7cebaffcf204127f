/** Check 21: what the browser loads. */

import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { faultsOf } from "../../core/dashboard/budgets.ts";

const PACKAGE = new URL("../../core/dashboard/", import.meta.url).pathname;

it("check 21: the build keeps its budgets", () => {
  const { lines, faults } = faultsOf(join(PACKAGE, "dist/ui"));
  expect(faults).toEqual([]);
  expect(lines.map((line) => line.replace(/: .*/, ""))).toEqual([
    "script before the first screen",
    "editor",
    "style",
    "package, unpacked",
    "fonts",
    "dependencies",
  ]);
  // Where nothing was found to weigh, nothing was held.
  expect(lines.slice(0, 4).filter((line) => line.includes(": 0 of"))).toEqual([]);
});

it("check 21: a font, a dependency and a wide screen are faults", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-budgets-"));
  try {
    const ui = join(folder, "dist/ui");
    cpSync(join(PACKAGE, "dist/ui"), ui, { recursive: true });
    copyFileSync(join(PACKAGE, "package.json"), join(folder, "package.json"));
    const list = join(ui, "files.json");
    const files = JSON.parse(readFileSync(list, "utf8")) as Record<string, { gz: number }>;
    files["assets/a.woff2"] = { gz: 1 };
    for (const [path, file] of Object.entries(files))
      if (path.includes("screen-keys")) file.gz = 100_000;
    writeFileSync(list, JSON.stringify(files));
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as object;
    const heavy = { ...manifest, dependencies: { preact: "1" } };
    writeFileSync(join(folder, "package.json"), JSON.stringify(heavy));
    expect(faultsOf(ui).faults).toEqual([
      expect.stringContaining("script before the first screen"),
      expect.stringContaining("fonts"),
      expect.stringContaining("dependencies"),
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
