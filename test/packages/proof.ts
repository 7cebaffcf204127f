/**
 * `npm run proof:packages`: stages and publishes every package to a registry of this machine, then
 * installs and uses them from empty folders. Takes minutes; names of scenarios as arguments run
 * those alone.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { authors } from "./authors.ts";
import { embedding } from "./embedding.ts";
import { installs } from "./installs.ts";
import { startRegistry } from "./registry.ts";
import { type Place, run } from "./shell.ts";
import { ROOT } from "../release/workspaces.ts";

/** One use of the published packages. */
export interface Scenario {
  readonly name: string;
  /** Resolves with what was measured. Rejects when it does not hold. */
  run(home: Place): Promise<string | void>;
}

const wanted = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "sluice-packages-"));
const registry = await startRegistry(join(folder, "registry"));
const home: Place = { folder, userConfig: registry.userConfig };
let failed = 0;
try {
  await release();
  for (const scenario of [...installs, ...embedding, ...authors]) {
    if (wanted.length > 0 && !wanted.some((word) => scenario.name.includes(word))) continue;
    await prove(scenario);
  }
} finally {
  await registry.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;

/** Publishes with the script of the release, twice: the second time there is nothing to do. */
async function release(): Promise<void> {
  const place: Place = { ...home, folder: ROOT };
  const publish = (): Promise<string> =>
    run(place, "node", "test/release/publish.ts", "--registry", registry.url);
  const first = lastLine(await publish());
  const second = lastLine(await publish());
  console.log(`published: ${first}`);
  if (!second.startsWith("0 of ")) throw new Error(`A second release published again: ${second}`);
}

async function prove({ name, run: use }: Scenario): Promise<void> {
  const startedMs = performance.now();
  try {
    const measured = await use(home);
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
    console.log(`ok: ${name} (${seconds} s)${typeof measured === "string" ? `: ${measured}` : ""}`);
  } catch (error) {
    failed += 1;
    console.error(`failed: ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
