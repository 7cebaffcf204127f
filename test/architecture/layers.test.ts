import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type Import,
  packageFolders,
  readImports,
  readSources,
  ROOT,
  type Source,
} from "./sources.ts";

/**
 * Which packages of the house a package may import: contract <- kit <- runtime <- engine <- cli;
 * plugins build on contract and kit.
 */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "core/admin-api": [],
  "core/contract": [],
  "core/kit": ["@sluice/contract"],
  "core/runtime": ["@sluice/contract", "@sluice/kit"],
  "core/store-sql": ["@sluice/contract", "@sluice/kit"],
  "core/testing": ["@sluice/contract", "@sluice/kit", "@sluice/runtime"],
  "core/engine": ["@sluice/admin-api", "@sluice/contract", "@sluice/kit", "@sluice/runtime"],
  "core/cli": ["@sluice/contract", "@sluice/kit", "@sluice/engine"],
  "core/sluice": ["@sluice/engine"],
  // The browser's side. It speaks to the admin listener alone.
  "core/dashboard": ["@sluice/admin-api"],
  plugins: ["@sluice/contract", "@sluice/kit"],
  "plugins/store-sqlite": ["@sluice/contract", "@sluice/kit", "@sluice/store-sql"],
  "plugins/store-postgres": ["@sluice/contract", "@sluice/kit", "@sluice/store-sql"],
  // The shipped steps and the drivers of shared state are parts of what runs plugins.
  "plugins/standard": ["@sluice/contract", "@sluice/kit", "@sluice/runtime"],
  "plugins/shared-memory": ["@sluice/contract", "@sluice/kit", "@sluice/runtime"],
  "plugins/shared-redis": ["@sluice/contract", "@sluice/kit", "@sluice/runtime"],
};

/**
 * Plugins that build on another one, which their package.json names: Vertex AI serves Claude in
 * Anthropic's dialect.
 */
const BASES: Readonly<Record<string, readonly string[]>> = {
  "plugins/provider-google": ["@sluice/provider-anthropic"],
};

const BESIDE = ["resources", "counting", "telemetry"];

/**
 * Which rooms of the engine a room may import, besides itself. Those beside stand open to all, and
 * import only spec.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  config: [],
  registry: ["config"],
  pipeline: ["config", "registry"],
  lint: ["config", "registry", "pipeline"],
  accounting: ["config", "registry", "pipeline", ...BESIDE],
  generation: ["config", "registry", "pipeline", "lint", "accounting", ...BESIDE],
  fleet: ["config", "registry", "generation", ...BESIDE],
  doctor: ["config", "registry", "accounting", ...BESIDE],
  http: [
    "config",
    "registry",
    "pipeline",
    "accounting",
    "generation",
    "fleet",
    "doctor",
    ...BESIDE,
  ],
  preflight: ["config", "registry", "pipeline", "accounting", "generation", "http", ...BESIDE],
  resources: [],
  counting: [],
  telemetry: [],
};

/** Packages that plugins have no business with: what they need comes from the host and the kit. */
const NOT_FOR_PLUGINS = ["koa", "@sluice/engine", "@sluice/cli"];

const sources = readSources();

interface Line {
  readonly source: Source;
  readonly line: Import;
}

/** The import lines of some sources that a rule does not allow, as `file imports what`. */
function violations(
  of: readonly Source[],
  isAllowed: (line: Import, source: Source) => boolean,
): string[] {
  const lines = of.flatMap((source): Line[] => source.imports.map((line) => ({ source, line })));
  return lines
    .filter(({ source, line }) => !isAllowed(line, source))
    .map(({ source, line }) => `${source.path} imports ${line.specifier}`);
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** The room of a file of the engine; files directly in `src` have none. */
function roomOf(path: string): string | undefined {
  return /^core\/engine\/src\/([^/]+)\/./.exec(path)?.[1];
}

describe("packages", () => {
  it("are all under a rule", () => {
    const folders = packageFolders().filter((folder) => !folder.startsWith("plugins/"));
    expect(folders.toSorted()).toEqual([
      "core/admin-api",
      "core/cli",
      "core/contract",
      "core/dashboard",
      "core/engine",
      "core/kit",
      "core/runtime",
      "core/sluice",
      "core/store-sql",
      "core/testing",
    ]);
    expect(sources.length).toBeGreaterThan(100);
  });

  it("import only those of the house that the table allows", () => {
    const isAllowed = ({ specifier }: Import, { folder }: Source): boolean =>
      !specifier.startsWith("@sluice/") ||
      [...(PACKAGES[folder] ?? PACKAGES.plugins ?? []), ...(BASES[folder] ?? [])].includes(
        packageOf(specifier),
      );
    expect(violations(sources, isAllowed)).toEqual([]);
  });

  it("never reach into another one's folder", () => {
    expect(
      violations(
        sources,
        ({ path }, { folder }) => path === undefined || path.startsWith(`${folder}/src/`),
      ),
    ).toEqual([]);
  });

  it("import no package that their package.json does not name", () => {
    const named = new Map(
      packageFolders().map((folder) => {
        const manifest = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as {
          readonly dependencies?: Readonly<Record<string, string>>;
          readonly devDependencies?: Readonly<Record<string, string>>;
        };
        // What the dashboard is made from is in its build.
        const { dependencies = {}, devDependencies = {} } = manifest;
        const needed = folder === "core/dashboard" ? devDependencies : dependencies;
        return [folder, Object.keys(needed)];
      }),
    );
    const isNamed = ({ specifier, path }: Import, { folder }: Source): boolean =>
      path !== undefined ||
      isBuiltin(specifier) ||
      // `imports` of its package.json names what that is.
      specifier.startsWith("#") ||
      (named.get(folder) ?? []).includes(packageOf(specifier));
    expect(violations(sources, isNamed)).toEqual([]);
  });
});

describe("plugins", () => {
  const plugins = sources.filter(({ folder }) => folder.startsWith("plugins/"));

  it("know neither the engine, nor Koa, nor each other", () => {
    const isAllowed = ({ specifier }: Import): boolean =>
      !NOT_FOR_PLUGINS.includes(packageOf(specifier));
    expect(violations(plugins, isAllowed)).toEqual([]);
    const isOther = ({ specifier }: Import, { folder }: Source): boolean =>
      /^@sluice\/(?!contract$|store-sql(?:\/|$)|(?:kit|runtime)(?:\/|$))/.test(specifier) &&
      !(BASES[folder] ?? []).includes(packageOf(specifier));
    expect(violations(plugins, (line, source) => !isOther(line, source))).toEqual([]);
  });
});

describe("the kit's internals", () => {
  it("are imported by nothing but what runs plugins", () => {
    const runners =
      /^(?:core\/(?:runtime|testing|engine)|plugins\/(?:standard|shared-memory|shared-redis))$/;
    const others = sources.filter(({ folder }) => !runners.test(folder));
    expect(violations(others, ({ specifier }) => !specifier.endsWith("/internals"))).toEqual([]);
  });
});

describe("the contract", () => {
  it("imports nothing from outside", () => {
    const spec = sources.filter(({ folder }) => folder === "core/contract");
    expect(violations(spec, ({ path }) => path !== undefined)).toEqual([]);
  });
});

describe("Node's http", () => {
  // An import of all its names loads Node's own fetch: see core/engine/src/http/node-http.ts.
  it("is imported by nothing that serves", () => {
    const serving = sources.filter(({ folder }) => !/^core\/(?:cli|testing)$/.test(folder));
    const loadsAll = ({ specifier, isType }: Import): boolean =>
      !isType && specifier === "node:http";
    expect(violations(serving, (line) => !loadsAll(line))).toEqual([]);
  });
});

describe("rooms of the engine", () => {
  const engine = sources.filter(({ folder }) => folder === "core/engine");

  it("are all under a rule", () => {
    const rooms = new Set(
      engine
        .map(({ path }) => roomOf(path))
        .filter((room) => room !== undefined && room !== "exports" && room !== "cluster"),
    );
    expect([...rooms].filter((room) => ROOMS[room ?? ""] === undefined)).toEqual([]);
  });

  it("import only the rooms that the table allows", () => {
    const isAllowed = ({ path }: Import, source: Source): boolean => {
      const from = roomOf(source.path);
      const to = path === undefined ? undefined : roomOf(path);
      // The composition root, the cluster and the indexes of the package know everything.
      if (from === undefined || from === "exports" || from === "cluster" || path === undefined)
        return true;
      return to !== undefined && (to === from || (ROOMS[from] ?? []).includes(to));
    };
    expect(violations(engine, isAllowed)).toEqual([]);
  });

  it("beside the corridor import nothing of the house but spec", () => {
    const beside = engine.filter(({ path }) => BESIDE.includes(roomOf(path) ?? ""));
    const isAllowed = ({ specifier, path }: Import, source: Source): boolean =>
      (!specifier.startsWith("@sluice/") || specifier === "@sluice/contract") &&
      (path === undefined || roomOf(path) === roomOf(source.path));
    expect(violations(beside, isAllowed)).toEqual([]);
  });

  it("named pipeline and generation know nothing of HTTP", () => {
    const inner = engine.filter(({ path }) =>
      ["config", "registry", "pipeline", "generation"].includes(roomOf(path) ?? ""),
    );
    const isHttp =
      /^(?:koa|undici|node:http2?|node:https|node:net|@sluice\/(?:kit|runtime)\/(?:transport|openai))$/;
    expect(violations(inner, ({ specifier }) => !isHttp.test(specifier))).toEqual([]);
  });

  it("leave Koa to http", () => {
    const others = engine.filter(({ path }) => roomOf(path) !== "http");
    expect(violations(others, ({ specifier }) => specifier !== "koa")).toEqual([]);
  });

  it("use no container: parts are passed as typed objects", () => {
    expect(
      violations(
        engine,
        ({ specifier }) => specifier !== "tsyringe" && specifier !== "reflect-metadata",
      ),
    ).toEqual([]);
  });
});

describe("the reader of import lines", () => {
  it("sees every form, and which are types", () => {
    const text = [
      'import a, { b } from "one";',
      'import type { C } from "two";',
      'import { type D, type E } from "three";',
      'import { type F, g } from "four";',
      'import {\n  type H,\n  i,\n} from "five";',
      'import "six";',
      'export { j } from "./seven.ts";',
      'export * from "../eight.ts";',
      'export type * from "nine";',
      'const k = await import("ten");',
      'const text = "import l from";',
    ].join("\n");
    const read = readImports("core/x/src/y.ts", text);
    expect(read.map(({ specifier }) => specifier)).toEqual([
      "one",
      "two",
      "three",
      "four",
      "five",
      "six",
      "./seven.ts",
      "../eight.ts",
      "nine",
      "ten",
    ]);
    expect(read.filter(({ isType }) => isType).map(({ specifier }) => specifier)).toEqual([
      "two",
      "three",
      "nine",
    ]);
    expect(read.map(({ path }) => path).filter((path) => path !== undefined)).toEqual([
      "core/x/src/seven.ts",
      "core/x/eight.ts",
    ]);
  });
});
