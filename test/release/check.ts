/**
 * `npm run release:check -- <version>`: whether this checkout can be released. Stages and packs
 * every package, twice, and inspects what would be published. Ends with 1 and the faults when it
 * cannot be released. Without a version the changelog is left out.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { changelogFaults, type Manifest, packageFaults } from "./faults.ts";
import { attwFaults, danglingImports, publintFaults } from "./inspect.ts";
import { packTwice, type Tarball } from "./pack.ts";
import { planOf } from "./plan.ts";
import { type StagedPackage, stagePackages } from "./stage.ts";
import { readWorkspaces, ROOT } from "./workspaces.ts";

const BYTES_PER_MB = 1_000_000;

interface Packed extends Tarball {
  readonly staged: StagedPackage;
}

const [version] = process.argv.slice(2);
const packages: Packed[] = stagePackages().map((staged) => ({ staged, ...packTwice(staged) }));
const faults = [
  ...(version === undefined
    ? []
    : changelogFaults(version, readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"))),
  ...packageFaults(packages.map(({ staged, files }) => ({ manifest: manifestOf(staged), files }))),
  ...packages.flatMap(({ staged, files }) => [
    ...unplanned(staged, files),
    ...danglingImports(staged, files),
  ]),
];
for (const { staged, file } of packages)
  faults.push(...(await publintFaults(staged)), ...(await attwFaults(staged.name, file)));
for (const fault of faults) console.error(fault);
const megabytes =
  packages.reduce((sum, { unpackedBytes }) => sum + unpackedBytes, 0) / BYTES_PER_MB;
console.log(
  `${faults.length === 0 ? "ok" : `${faults.length} faults`}: ${packages.length} packages, ${megabytes.toFixed(1)} MB unpacked, packed twice with equal bytes`,
);
process.exitCode = faults.length === 0 ? 0 : 1;

function manifestOf({ folder }: StagedPackage): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Files of a tarball that the plan does not have, and the other way round. */
function unplanned({ name }: StagedPackage, files: readonly string[]): readonly string[] {
  const workspace = readWorkspaces().find(({ manifest }) => manifest.name === name);
  const planned = new Set(workspace === undefined ? [] : planOf(workspace).keys());
  return [
    ...files
      .filter((path) => !planned.has(path))
      .map((path) => `${name}: ${path} is packed and not planned.`),
    ...[...planned]
      .filter((path) => !files.includes(path))
      .map((path) => `${name}: ${path} is planned and not packed.`),
  ];
}
