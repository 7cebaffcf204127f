/** Which version this is, and which code. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The version of the package. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { readonly version: string }
).version;

/** A digest of the gateway's own code as it lies on disk: an upgrade in place may keep the version. */
export function codeDigest(): string {
  const folder = fileURLToPath(new URL("../", import.meta.url));
  const hash = createHash("sha256");
  for (const name of (readdirSync(folder, { recursive: true }) as string[]).filter((each) => /\.[jt]s$/.test(each)).sort()) {
    hash
      .update(name)
      .update("\0")
      .update(readFileSync(`${folder}${name}`))
      .update("\0");
  }
  return hash.digest("hex").slice(0, 12);
}
