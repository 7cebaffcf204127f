import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { TestFolder } from "../load.fixture.ts";
import { openConfig } from "./open.ts";
import { findPlugins } from "./found-plugins.ts";

type Json = Readonly<Record<string, unknown>>;

/** Writes packages by their folders, each with a package.json. */
function write(folder: TestFolder, packages: Readonly<Record<string, Json>>): void {
  for (const [name, manifest] of Object.entries(packages)) {
    const file = join(folder.path, name, "package.json");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(manifest));
  }
}

const plugin = (name: string, ...plugins: string[]): Json => ({ name, sluice: { plugins } });

/** The packages that are found for a gateway file of the folder, without those of the checkout. */
function found(folder: TestFolder, file = "gateway.yaml"): readonly string[] {
  return findPlugins(join(folder.path, file))
    .filter(({ from }) => from.startsWith(folder.path))
    .map(({ specifier }) => specifier);
}

describe("plugins that are found", () => {
  it("are the packages of plugins among the direct dependencies beside the gateway file", () => {
    using folder = new TestFolder({});
    write(folder, {
      "": {
        dependencies: { "sluice-provider-a": "^1.0.0", lodash: "*", absent: "*" },
        optionalDependencies: { "@acme/step-b": "*" },
        devDependencies: { "sluice-step-dev": "*" },
      },
      "node_modules/sluice-provider-a": plugin("sluice-provider-a", "provider/a"),
      "node_modules/@acme/step-b": plugin("@acme/step-b", "step/b"),
      "node_modules/lodash": { name: "lodash" },
      "node_modules/sluice-step-dev": plugin("sluice-step-dev", "step/dev"),
      "node_modules/of-another-package": plugin("of-another-package", "step/other"),
    });
    expect(found(folder)).toEqual(["sluice-provider-a", "@acme/step-b"]);
    expect(found(folder, "config/gateway.yaml")).toEqual(["sluice-provider-a", "@acme/step-b"]);
  });

  it("are never packages of an extension, of a bundle neither", () => {
    using folder = new TestFolder({});
    write(folder, {
      "": { dependencies: { edge: "*", mixed: "*", bundle: "*" } },
      "node_modules/edge": plugin("edge", "extension/edge"),
      "node_modules/mixed": plugin("mixed", "provider/a", "extension/edge"),
      "node_modules/of-bundle": plugin("of-bundle", "extension/other"),
      "node_modules/bundle": {
        name: "bundle",
        dependencies: { "of-bundle": "*" },
        sluice: { bundle: true },
      },
    });
    expect(found(folder)).toEqual([]);
  });

  it.each([null, "provider/a", { a: 1 }, 5, [5], []])(
    "are no packages whose list is %j, as another tool may have it",
    (plugins) => {
      using folder = new TestFolder({});
      const foreign = { name: "foreign", sluice: { plugins } };
      write(folder, {
        "": { dependencies: { bundle: "*", foreign: "*" } },
        "node_modules/foreign": foreign,
        "node_modules/bundle": {
          name: "bundle",
          dependencies: { foreign: "*" },
          sluice: { bundle: true },
        },
      });
      expect(found(folder)).toEqual([]);
    },
  );

  it("of a bundle are its dependencies, and a direct one takes their place", () => {
    using folder = new TestFolder({});
    write(folder, {
      "": { dependencies: { bundle: "*", "my-a": "*", "old-c": "npm:provider-c@1.0.0" } },
      "node_modules/my-a": plugin("my-a", "provider/a"),
      "node_modules/old-c": plugin("provider-c", "provider/c"),
      "store/node_modules/bundle": {
        name: "bundle",
        dependencies: { "provider-a": "*", "provider-c": "*", several: "*" },
        sluice: { bundle: true },
      },
      "store/node_modules/provider-a": plugin("provider-a", "provider/a"),
      "store/node_modules/provider-c": plugin("provider-c", "provider/c"),
      "store/node_modules/several": plugin("several", "provider/a", "step/d"),
    });
    // pnpm links a package, and its dependencies are beside the place that the link leads to.
    symlinkSync("../store/node_modules/bundle", join(folder.path, "node_modules/bundle"));
    expect(found(folder)).toEqual(["my-a", "old-c", "provider-c", "several"]);
  });

  it("are those of the installation where nothing is beside the file", () => {
    using folder = new TestFolder({});
    const specifiers = findPlugins(join(folder.path, "gateway.yaml")).map(
      ({ specifier }) => specifier,
    );
    expect(specifiers).toContain("@sluice/standard");
    expect(specifiers).toContain("@sluice/provider-echo");
  });

  it("are left out by a list, unless it has `*`", () => {
    const specifiers = (plugins: string): readonly string[] => {
      using folder = new TestFolder({ "gateway.yaml": `${plugins}\nmodels: []\n` });
      return openConfig({ path: "gateway.yaml", cwd: folder.path, environment: {} }).plugins.map(
        ({ specifier }) => specifier,
      );
    };
    expect(specifiers('plugins: ["./a.ts"]')).toEqual(["./a.ts"]);
    const both = specifiers('plugins: ["*", ./a.ts]');
    expect(both.at(-1)).toBe("./a.ts");
    expect(both.slice(0, -1)).toEqual(specifiers(""));
    expect(both).toContain("@sluice/standard");
  });

  it("survive a package.json that is broken, or no object", () => {
    using folder = new TestFolder({
      "package.json": '{ "dependencies": { "a": "*", "b": "*" } }',
      "node_modules/a/package.json": "{",
      "node_modules/b/package.json": "null",
    });
    expect(found(folder)).toEqual([]);
  });
});
