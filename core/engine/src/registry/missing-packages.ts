/**
 * Names the packages of plugins that are used and not listed: an installed package says in its
 * manifest what it provides.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseJson } from "@sluice/kit";
import type { Finding } from "../config/finding.ts";
import type { OpenedConfig } from "../config/load.ts";

/**
 * What a package of plugins says of itself in package.json: `"sluice": { "plugins":
 * ["store/sqlite"] }`.
 */
interface PluginManifest {
  readonly name?: string;
  readonly version?: string;
  readonly sluice?: { readonly plugins?: readonly string[] };
}

/**
 * Findings of unknown plugins, one for each package that would provide them: its fix names the
 * package. Where no installed package does, one for each plugin. Every other finding stays as it
 * is.
 */
export function withPackages(
  findings: readonly Finding[],
  { path, plugins }: Pick<OpenedConfig, "path" | "plugins">,
): readonly Finding[] {
  if (!findings.some(({ unknownPlugin }) => unknownPlugin !== undefined)) return findings;
  const providers = providedPlugins(path);
  const areFound = plugins.every(({ isFound }) => isFound);
  const fixOf = (specifier: string): string =>
    areFound
      ? `install it beside the gateway file: npm install "${specifier}"`
      : `add "${specifier}" to \`plugins\``;
  const seen = new Set<string>();
  return findings.flatMap((finding): Finding[] => {
    const { unknownPlugin } = finding;
    if (unknownPlugin === undefined) return [finding];
    const specifier = providers.get(unknownPlugin);
    const key = specifier ?? unknownPlugin;
    if (seen.has(key)) return [];
    seen.add(key);
    return [specifier === undefined ? finding : { ...finding, fix: fixOf(specifier) }];
  });
}

/**
 * What installed packages provide, by `kind/name`: the specifier to list. The configuration's
 * packages come before the engine's.
 */
function providedPlugins(from: string): ReadonlyMap<string, string> {
  const provided = new Map<string, string>();
  for (const base of [resolve(from), import.meta.filename]) {
    for (let folder = dirname(base); ; folder = dirname(folder)) {
      for (const path of packagesIn(join(folder, "node_modules"))) {
        const { name, version, sluice } = manifestAt(path);
        if (name === undefined || version === undefined) continue;
        for (const plugin of sluice?.plugins ?? []) {
          if (!provided.has(plugin)) provided.set(plugin, `${name}@^${version}`);
        }
      }
      if (folder === dirname(folder)) break;
    }
  }
  return provided;
}

function packagesIn(modules: string): readonly string[] {
  if (!existsSync(modules)) return [];
  return readdirSync(modules).flatMap((name) => {
    if (!name.startsWith("@")) return name.startsWith(".") ? [] : [join(modules, name)];
    return readdirSync(join(modules, name)).map((scoped) => join(modules, name, scoped));
  });
}

function manifestAt(folder: string): PluginManifest {
  try {
    return parseJson(readFileSync(join(folder, "package.json"), "utf8")) as PluginManifest;
  } catch {
    return {};
  }
}
