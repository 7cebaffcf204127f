/**
 * Plugins that are found by themselves: the packages of plugins among the direct dependencies of
 * the package.json beside the gateway file, and those of the installation that runs. A package of
 * plugins says so in its package.json: `"sluice": { "plugins": ["provider/acme"] }`. A bundle,
 * `"sluice": { "bundle": true }`, stands for the packages of plugins among its own dependencies.
 */

import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseJson } from "@sluice/kit";

/** The bundle that brings the command and every shipped plugin. */
export const UMBRELLA = "sluice";

/** How a list of plugins names those that are found. */
export const FOUND = "*";

/** A found package. */
export interface FoundPlugin {
  /** The name that it is installed under. */
  readonly specifier: string;
  /** The package.json that depends on it. */
  readonly from: string;
}

interface Manifest {
  readonly name?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly sluice?: { readonly plugins?: readonly string[]; readonly bundle?: boolean };
}

interface Package {
  /** Its package.json, links resolved. */
  readonly file: string;
  readonly manifest: Manifest;
}

interface Candidate extends FoundPlugin {
  /** What it provides, `kind/name`. Empty under an alias, where its plugins have other names. */
  readonly provides: readonly string[];
}

/**
 * The plugins for a gateway file. A direct dependency wins over a package of a bundle of the same
 * name, or all of whose plugins it provides.
 */
export function findPlugins(gatewayFile: string): readonly FoundPlugin[] {
  const beside = manifestAbove(dirname(gatewayFile));
  const direct = beside === undefined ? [] : pluginsOf(beside);
  const bundles = [...(beside === undefined ? [] : bundlesOf(beside)), ...ownBundle()];
  const found = new Map(direct.map((plugin) => [plugin.specifier, plugin]));
  const provided = new Set(direct.flatMap(({ provides }) => provides));
  for (const plugin of bundles.flatMap(pluginsOf)) {
    if (found.has(plugin.specifier) || plugin.provides.every((name) => provided.has(name)))
      continue;
    found.set(plugin.specifier, plugin);
  }
  return [...found.values()].map(({ specifier, from }) => ({ specifier, from }));
}

/** The bundle that the command was started from, or that is installed beside this package. */
function ownBundle(): readonly Package[] {
  for (const file of installationFiles()) {
    const folder = dirname(file);
    const own = manifestAbove(folder);
    if (own?.manifest.sluice?.bundle === true) return [own];
    const installed = packageAt(UMBRELLA, folder);
    if (installed !== undefined) return [installed];
  }
  return [];
}

function pluginsOf({ file, manifest }: Package): Candidate[] {
  return dependenciesOf({ file, manifest }).flatMap(([name, dependency]): Candidate[] => {
    const plugins: unknown = dependency.manifest.sluice?.plugins;
    // Another tool may have a member of this name.
    if (!isNames(plugins) || plugins.length === 0 || plugins.some(isExtension)) return [];
    const isAlias = dependency.manifest.name !== name;
    return [{ specifier: name, from: file, provides: isAlias ? [] : plugins }];
  });
}

/** An extension is on by a line of the file alone, and never because its package is installed. */
function isExtension(name: string): boolean {
  return name.startsWith("extension/");
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function bundlesOf(of: Package): readonly Package[] {
  return dependenciesOf(of).flatMap(([, dependency]) =>
    dependency.manifest.sluice?.bundle === true ? [dependency] : [],
  );
}

/** The installed dependencies of a package, by the names that it gives them. */
function dependenciesOf({ file, manifest }: Package): readonly (readonly [string, Package])[] {
  const { dependencies = {}, optionalDependencies = {} } = manifest;
  return Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => {
    const found = packageAt(name, dirname(file));
    return found === undefined ? [] : [[name, found] as const];
  });
}

/** A package as a module in a folder finds it. */
function packageAt(name: string, from: string): Package | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = readPackage(join(folder, "node_modules", name));
    if (found !== undefined || folder === dirname(folder)) return found;
  }
}

function manifestAbove(from: string): Package | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = readPackage(folder);
    if (found !== undefined || folder === dirname(folder)) return found;
  }
}

function readPackage(folder: string): Package | undefined {
  try {
    const file = realpathSync(join(folder, "package.json"));
    const manifest: unknown = parseJson(readFileSync(file, "utf8"));
    return typeof manifest === "object" && manifest !== null ? { file, manifest } : undefined;
  } catch {
    return undefined;
  }
}

/** Files of the installation that runs: of this package, and of the command. Links are resolved. */
export function installationFiles(): readonly string[] {
  const [, command] = process.argv;
  const files = [import.meta.filename];
  try {
    if (command !== undefined) files.push(realpathSync(command));
  } catch {
    // The program was not started from a file.
  }
  return files;
}
