/** What publint and attw find in packages, and imports of files that a package does not have. */

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import type { StagedPackage } from "./stage.ts";
import { ROOT } from "./workspaces.ts";

const ATTW = join(ROOT, "node_modules/@arethetypeswrong/cli/dist/index.js");
const RELATIVE = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g;

/** Findings of publint, every suggestion included. */
export async function publintFaults({ name, folder }: StagedPackage): Promise<readonly string[]> {
  const { messages, pkg } = await publint({ pkgDir: folder, strict: true, pack: false });
  return messages.map(
    (message) => `${name}: publint: ${formatMessage(message, pkg, { color: false })}`,
  );
}

/** Types that a tarball does not resolve to for users of its modules. */
export async function attwFaults(name: string, tarball: string): Promise<readonly string[]> {
  try {
    await promisify(execFile)(process.execPath, [
      ATTW,
      tarball,
      "--profile",
      "esm-only",
      "--no-color",
    ]);
    return [];
  } catch (error) {
    const { stdout = "", stderr = "" } = error as {
      readonly stdout?: string;
      readonly stderr?: string;
    };
    return [`${name}: attw: ${`${stdout}${stderr}`.trim()}`];
  }
}

/** Modules and declarations whose relative imports lead to no file. */
export function danglingImports(
  staged: StagedPackage,
  files: readonly string[],
): readonly string[] {
  return files
    .filter((path) => path.startsWith("dist/") && /\.(?:js|d\.ts)$/.test(path))
    .flatMap((path) => {
      const text = readFileSync(join(staged.folder, path), "utf8");
      return [...text.matchAll(RELATIVE)]
        .map(([, specifier = ""]) => specifier)
        .filter((specifier) => !existsSync(join(staged.folder, dirname(path), specifier)))
        .map(
          (specifier) =>
            `${staged.name}: ${path} imports ${specifier}, which is not in the package.`,
        );
    });
}
