/** The workspaces of the checkout, as far as their packages depend on them. */

import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The checkout. */
export const ROOT = join(import.meta.dirname, "../..");

/** The package that brings the command and every shipped plugin. */
export const UMBRELLA = "sluice";

/** Names with the versions or ranges that a package.json gives them. */
type Ranges = Readonly<Record<string, string>>;

/** What a package.json of a workspace says. */
export interface WorkspaceManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly private?: boolean;
  readonly bin?: Ranges;
  readonly exports?: Ranges;
  readonly imports?: Ranges;
  readonly dependencies?: Ranges;
  readonly optionalDependencies?: Ranges;
  readonly peerDependencies?: Ranges;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: boolean }>>;
  readonly engines?: Ranges;
  readonly sluice?: { readonly plugins?: readonly string[]; readonly bundle?: boolean };
}

/** A workspace. */
export interface Workspace {
  /** From the root of the checkout, with slashes: `core/kit`. */
  readonly folder: string;
  readonly manifest: WorkspaceManifest;
}

/** Every workspace that is published, in the order of the folders. */
export function readWorkspaces(): readonly Workspace[] {
  return globSync("{core,plugins}/*/package.json", { cwd: ROOT })
    .sort()
    .map((file) => ({
      folder: dirname(file).replaceAll("\\", "/"),
      manifest: JSON.parse(readFileSync(join(ROOT, file), "utf8")) as WorkspaceManifest,
    }))
    .filter(({ manifest }) => manifest.private !== true);
}
