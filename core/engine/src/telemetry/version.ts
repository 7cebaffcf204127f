/** Which version this is, and which code. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const MANIFEST = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
};

/** The version of the package. */
export const VERSION: string = MANIFEST.version;

/** Files that a gateway runs: no tests, no declarations. */
const CODE_FILE = /(?<!\.(?:test|fixture|d))\.[jt]s$/;

/**
 * A digest of the gateway's own code as it lies on disk: an upgrade in place may keep the version.
 * It covers the engine and the packages of the gateway that it is built on. Plugins are not
 * covered: `sluice status` names those whose files changed.
 */
export function codeDigest(folders: readonly string[] = codeFolders()): string {
  const hash = createHash("sha256");
  for (const folder of folders) {
    const files = (readdirSync(folder, { recursive: true }) as string[]).filter((name) =>
      CODE_FILE.test(name),
    );
    for (const name of files.sort()) {
      hash
        .update(name)
        .update("\0")
        .update(readFileSync(join(folder, name)))
        .update("\0");
    }
  }
  return hash.digest("hex").slice(0, 12);
}

/** The folders of the engine's code and of its packages `@sluice/…`. */
export function codeFolders(): readonly string[] {
  const packages = Object.keys(MANIFEST.dependencies).filter((name) => name.startsWith("@sluice/"));
  return [
    fileURLToPath(new URL("../", import.meta.url)),
    ...packages.sort().map((name) => sourcesOf(dirname(fileURLToPath(import.meta.resolve(name))))),
  ];
}

/** The folder of the sources, also where their joined files are loaded (`npm run build`). */
function sourcesOf(folder: string): string {
  return folder.replace(/\/dist\/bundle$/, "/src");
}
