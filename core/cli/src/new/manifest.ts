/**
 * The manifest of a package outside of a checkout. A Sluice that npm installed names versions of
 * its own packages; one of a checkout, which no registry has, links to its folders.
 */

import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { UMBRELLA } from "@sluice/engine/config";
import { parseJson } from "@sluice/kit";

type Manifest = Readonly<Record<string, unknown>>;

const { resolve } = createRequire(import.meta.filename);
const COMMAND = realpathSync(join(import.meta.dirname, "../.."));

/** Scripts of a package outside of a checkout, which is compiled before it is packed. */
export const COMPILES = {
  typecheck: "tsc",
  build: "tsc -p tsconfig.build.json",
  prepare: "npm run build",
};

/** Whether npm installed this command from a registry. */
export const IS_INSTALLED: boolean = COMMAND.includes(`${sep}node_modules${sep}`);

/** Tools of a package, in the versions that the templates are tested with. */
export const TOOLS: Readonly<Record<string, string>> = {
  "@types/node": "24.10.1",
  typescript: "7.0.2",
};

/**
 * What a package in `folder` needs. It runs with the kit and the contract of whatever gateway loads
 * it, so those are peers. For its own tests it has those of the Sluice that wrote it.
 */
export function outsideManifest(manifest: Manifest, folder: string): Manifest {
  const { name, version, description, type, scripts, dependencies, engines, sluice } = manifest;
  const links = IS_INSTALLED ? versions() : linksFrom(folder);
  return {
    name,
    version,
    description,
    // A registry could not install its links.
    ...(!IS_INSTALLED && { private: true }),
    type,
    // Node runs no TypeScript of an installed package: what `npm pack` packs is compiled.
    files: ["dist"],
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
    scripts: {
      test: 'node --test "src/**/*.test.ts"',
      ...("typescript" in links && "@types/node" in links ? COMPILES : {}),
      ...(scripts as Manifest | undefined),
    },
    peerDependencies: dependencies,
    // No registry has them: npm would look there for a peer that has to be installed.
    ...(!IS_INSTALLED && {
      peerDependenciesMeta: Object.fromEntries(
        Object.keys(dependencies ?? {}).map((peer) => [peer, { optional: true }]),
      ),
    }),
    devDependencies: links,
    engines,
    sluice,
  };
}

/** Our packages as this installation has them, and the tools. */
function versions(): Record<string, string> {
  const own = ["@sluice/contract", "@sluice/kit", "@sluice/testing"].map((name) =>
    rangeAt(packageOf(resolve(name))),
  );
  const entries = [...own, rangeAt(installedBundle() ?? COMMAND), ...Object.entries(TOOLS)];
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The package that the command was started from: a sandbox needs its plugins. */
function installedBundle(): string | undefined {
  const [, command] = process.argv;
  const folder = command === undefined ? undefined : packageOf(command);
  return folder === undefined || folder === COMMAND ? optional(UMBRELLA) : folder;
}

function rangeAt(folder: string): [name: string, range: string] {
  const { name, version } = parseJson(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
  };
  return [name, `^${version}`];
}

/**
 * `file:` links, by the names of the packages. The compiler and the Node of an old machine are
 * there where this Sluice has them.
 */
function linksFrom(folder: string): Record<string, string> {
  const folders = [
    packageOf(resolve("@sluice/kit")),
    packageOf(resolve("@sluice/contract")),
    packageOf(resolve("@sluice/testing")),
    COMMAND,
    optional("typescript"),
    optional("@types/node"),
    packagedNode(),
  ];
  const from = realpathSync(folder);
  const links = folders.flatMap((target): [string, string][] => {
    if (target === undefined) return [];
    const { name } = parseJson(readFileSync(join(target, "package.json"), "utf8")) as {
      readonly name: string;
    };
    return [[name, `file:${relative(from, target).replaceAll("\\", "/")}`]];
  });
  return Object.fromEntries(links.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The folder of the package that a file belongs to. */
function packageOf(file: string): string {
  let folder = dirname(realpathSync(file));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}

function optional(name: string): string | undefined {
  try {
    return packageOf(resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/** The package that this Node comes from, when it is none of the machine's own. */
function packagedNode(): string | undefined {
  const folder = join(dirname(realpathSync(process.execPath)), "..");
  const file = join(folder, "package.json");
  if (!existsSync(file)) return undefined;
  const { bin } = parseJson(readFileSync(file, "utf8")) as {
    readonly bin?: Readonly<Record<string, string>>;
  };
  return typeof bin === "object" && "node" in bin ? folder : undefined;
}
