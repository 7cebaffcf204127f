/** The order in which packages are published. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { StagedPackage } from "./stage.ts";

/** Each package after those that it needs, so that what a registry has can always be installed. */
export function inDependencyOrder(packages: readonly StagedPackage[]): readonly StagedPackage[] {
  const byName = new Map(packages.map((one) => [one.name, one]));
  const ordered = new Set<StagedPackage>();
  const add = (one: StagedPackage): void => {
    for (const name of needsOf(one)) {
      const other = byName.get(name);
      if (other !== undefined && !ordered.has(other)) add(other);
    }
    ordered.add(one);
  };
  for (const one of packages) add(one);
  return [...ordered];
}

function needsOf({ folder }: StagedPackage): readonly string[] {
  const { dependencies, peerDependencies } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  ) as Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;
  return Object.keys({ ...dependencies, ...peerDependencies });
}
