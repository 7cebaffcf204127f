/**
 * `npm run release`: stages every package and publishes those whose version the registry does not
 * have, with provenance. Runs in CI alone. `--registry http://127.0.0.1:PORT` publishes to a
 * registry of this machine, without provenance.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { inDependencyOrder } from "./order.ts";
import { type StagedPackage, stagePackages } from "./stage.ts";

const { values } = parseArgs({
  options: { registry: { type: "string" }, "dry-run": { type: "boolean" } },
});
const isLocal = values.registry !== undefined && isLoopback(values.registry);

if (values.registry !== undefined && !isLocal) {
  console.error(
    `--registry ${values.registry} is not of this machine: name none, and let CI publish.`,
  );
  process.exit(2);
}
if (!isLocal && process.env["GITHUB_ACTIONS"] !== "true") {
  console.error(
    "Packages are published by the workflow release. Here, name a registry of this machine with --registry.",
  );
  process.exit(2);
}

let published = 0;
const staged = inDependencyOrder(stagePackages());
for (const one of staged) {
  if (isThere(one)) continue;
  console.log(`publish ${one.name}@${one.version}`);
  if (values["dry-run"] !== true) publish(one);
  published += 1;
}
console.log(`${published} of ${staged.length} packages published; the registry had the others.`);

/** Throws when the registry gives no answer: what it has is then unknown. */
function isThere({ name, version }: StagedPackage): boolean {
  const { status, stdout, stderr } = spawnSync(
    "npm",
    ["view", `${name}@${version}`, "version", "--json", ...registry()],
    { encoding: "utf8" },
  );
  if (status === 0) return stdout.trim() !== "";
  if (/\bE404\b/.test(`${stdout}${stderr}`)) return false;
  throw new Error(`The registry does not say whether it has ${name}@${version}: ${stderr.trim()}`);
}

function publish({ folder }: StagedPackage): void {
  execFileSync(
    "npm",
    ["publish", ".", "--access", "public", ...registry(), ...(isLocal ? [] : ["--provenance"])],
    {
      cwd: folder,
      stdio: "inherit",
    },
  );
}

function registry(): readonly string[] {
  return values.registry === undefined ? [] : ["--registry", values.registry];
}

function isLoopback(address: string): boolean {
  return (
    URL.canParse(address) && ["127.0.0.1", "localhost", "[::1]"].includes(new URL(address).hostname)
  );
}
