/**
 * `npm run release:check -- <version>`: whether this checkout can be released. Ends with 1 and the
 * faults when it cannot.
 */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { changelogFaults, type Manifest, packageFaults } from "./faults.ts";

const ROOT = join(import.meta.dirname, "../..");
const MAX_LISTING_BYTES = 64 * 1024 * 1024;

/** What `npm pack --json` says of a package, as far as it is read. */
interface Listing {
  readonly name: string;
  readonly files: readonly { readonly path: string }[];
}

const [version = ""] = process.argv.slice(2);
const listed = execFileSync("npm", ["pack", "--dry-run", "--json", "--workspaces"], {
  cwd: ROOT,
  encoding: "utf8",
  maxBuffer: MAX_LISTING_BYTES,
  stdio: ["ignore", "pipe", "ignore"],
});
const packages = (JSON.parse(listed) as readonly Listing[]).map(({ name, files }) => ({
  manifest: JSON.parse(
    readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8"),
  ) as Manifest,
  files: files.map(({ path }) => path),
}));
const faults = [
  ...changelogFaults(version, readFileSync(join(ROOT, "CHANGELOG.md"), "utf8")),
  ...packageFaults(packages),
];
for (const fault of faults) console.error(fault);
console.log(
  faults.length === 0
    ? `ok: ${packages.length} packages`
    : `${faults.length} faults in ${packages.length} packages`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
