/** Which files packages are published with. Every one that is added or left out shows in a review. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { UMBRELLA as FOUND_UMBRELLA } from "@sluice/engine/config";
import { manifestOf } from "../release/manifest.ts";
import { TOOLS } from "../../core/cli/src/new/manifest.ts";
import { planOf, publishedFiles } from "../release/plan.ts";
import { readWorkspaces, UMBRELLA, type Workspace } from "../release/workspaces.ts";
import { ROOT } from "./sources.ts";

const workspaces = readWorkspaces();
const facts = {
  repository: "git+https://git.example/sluice.git",
  packagedNode: { "node-x": "24.0.0" },
};

interface Definition {
  readonly kind: string;
  readonly name: string;
}

interface Published {
  readonly repository: unknown;
  readonly exports: Readonly<Record<string, { readonly types: string } | string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly imports?: Readonly<Record<string, string>>;
  readonly scripts?: unknown;
  readonly devDependencies?: unknown;
}

function published(name: string): Published {
  return manifestOf(workspaceOf(name), facts) as Published;
}

function workspaceOf(name: string): Workspace {
  const found = workspaces.find(({ manifest }) => manifest.name === name);
  if (found === undefined) throw new Error(`There is no workspace ${name}.`);
  return found;
}

describe("published packages", () => {
  it("have one name of the umbrella, and one version of each tool of a new plugin", () => {
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      readonly devDependencies: Readonly<Record<string, string>>;
    };
    expect(UMBRELLA).toBe(FOUND_UMBRELLA);
    expect(devDependencies).toMatchObject(TOOLS);
  });

  it("have the files of the list: after a change run node test/generate/published-files.ts", () => {
    const file = join(ROOT, "test/release/published-files.txt");
    expect(publishedFiles()).toBe(readFileSync(file, "utf8"));
  });

  it.each(workspaces.map(({ manifest }) => manifest.name))(
    "%s is compiled, names files that it has, and brings no script",
    (name) => {
      const files = new Set(planOf(workspaceOf(name)).keys());
      const manifest = published(name);
      const targets = Object.values(manifest.exports)
        .flatMap((target) => (typeof target === "string" ? [target] : Object.values(target)))
        .concat(Object.values(manifest.imports ?? {}))
        .map((path) => path.replace("./", ""));
      expect(targets.filter((path) => !files.has(path))).toEqual([]);
      expect(targets.filter((path) => /(?<!\.d)\.ts$/.test(path))).toEqual([]);
      expect(manifest.repository).toMatchObject({ directory: workspaceOf(name).folder });
      expect(manifest).not.toHaveProperty("scripts");
      expect(manifest).not.toHaveProperty("devDependencies");
    },
  );

  it("share one kit: it is a peer of every plugin", () => {
    const { dependencies = {}, peerDependencies = {} } = published("@sluice/provider-openai");
    expect(Object.keys(peerDependencies)).toEqual(["@sluice/contract", "@sluice/kit"]);
    expect(Object.keys(dependencies)).toEqual([]);
    expect(Object.keys(published("@sluice/engine").dependencies ?? {})).toContain("@sluice/kit");
  });

  it("bring the packaged Node with the command, where it can be left out", () => {
    expect(published("@sluice/cli").optionalDependencies).toEqual(facts.packagedNode);
  });

  it("say which plugins they have: a message names the package of each", async () => {
    const found = await Promise.all(
      workspaces
        .filter(({ manifest }) => manifest.sluice?.plugins !== undefined)
        .map(async ({ folder, manifest }) => {
          const { default: own } = (await import(join(ROOT, folder, "src/index.ts"))) as {
            readonly default: Definition | readonly Definition[];
          };
          const names = [own].flat().map(({ kind, name }) => `${kind}/${name}`);
          return [manifest.name, names.toSorted(), manifest.sluice?.plugins?.toSorted()] as const;
        }),
    );
    for (const [name, has, says] of found) expect([name, says]).toEqual([name, has]);
  });

  it("are all brought by the umbrella", () => {
    const brought = Object.keys(published(UMBRELLA).dependencies ?? {});
    const plugins = workspaces.filter(({ manifest }) => manifest.sluice?.plugins !== undefined);
    expect(plugins.length).toBeGreaterThan(20);
    expect(
      plugins.map(({ manifest }) => manifest.name).filter((name) => !brought.includes(name)),
    ).toEqual([]);
  });
});
