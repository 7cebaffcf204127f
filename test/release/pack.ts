/** Tarballs of staged packages. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { StagedPackage } from "./stage.ts";
import { ROOT } from "./workspaces.ts";

/** Where tarballs are written. */
export const TARBALLS = join(ROOT, "build/tarballs");

/** A packed package. */
export interface Tarball {
  /** Absolute. */
  readonly file: string;
  /** Paths within the package. */
  readonly files: readonly string[];
  /** Bytes of the files. */
  readonly unpackedBytes: number;
}

/** What `npm pack --json` reports, as far as it is read. */
interface Report {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** Packs a staged package. */
export function pack({ folder }: StagedPackage): Tarball {
  mkdirSync(TARBALLS, { recursive: true });
  const out = execFileSync("npm", ["pack", "--json", "--pack-destination", TARBALLS], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [report] = JSON.parse(out) as readonly Report[];
  if (report === undefined) throw new Error(`npm pack reported nothing for ${folder}.`);
  return {
    file: join(TARBALLS, report.filename),
    files: report.files.map(({ path }) => path),
    unpackedBytes: report.unpackedSize,
  };
}

/** Packs a staged package twice. Throws when the two tarballs differ. */
export function packTwice(staged: StagedPackage): Tarball {
  const before = readFileSync(pack(staged).file);
  const tarball = pack(staged);
  if (!readFileSync(tarball.file).equals(before))
    throw new Error(`${staged.name}: two tarballs of the same files differ.`);
  return tarball;
}
