/** Whose code a module is: plugins by the files they were loaded from. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { LoadedPlugin } from "./definitions.ts";

/**
 * A plugin and where its code is: the URL of its package's folder, with a slash at its end, or that
 * of its file.
 */
export interface PluginCode {
  readonly name: string;
  readonly url: string;
}

/**
 * Where the plugins' code is. A file of the user's own goes by the name that YAML says, a package
 * by its own: the file identifies the plugin of a bundle.
 */
export function pluginCode(plugins: readonly LoadedPlugin[]): PluginCode[] {
  return plugins.flatMap(({ url, version, specifier, definitions }): PluginCode[] => {
    if (url === undefined) return [];
    const only = definitions.length === 1 ? definitions[0]?.name : undefined;
    if (version === undefined) return [{ name: only ?? specifier, url }];
    return [{ name: only ?? specifier.replace(/(?<=.)@.*$/, ""), url: packageUrl(url) }];
  });
}

/** The folder of the package that a module belongs to. */
export function packageUrl(url: string): string {
  for (let folder = dirname(fileURLToPath(url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json")) || folder === dirname(folder))
      return `${pathToFileURL(folder).href}/`;
  }
}
