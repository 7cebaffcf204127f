import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageFolders, readSources, ROOT } from "./sources.ts";

const MAX_LINES = 400;
/** Tables of data may be as long as the data. */
const TABLES = ["core/contract/src/codes.ts"];

/** What parses by `JSON.parse`: the kit's parser, the browser, tests, and readers of own files. */
const OWN_JSON = [
  "core/kit/src/json/",
  "core/dashboard/",
  "core/testing/",
  "core/engine/src/registry/fault-place.ts",
  "core/engine/src/registry/resolve-hook.ts",
  "core/engine/src/resources/",
  "core/engine/src/telemetry/",
];

const sources = readSources();

/** The text without comments and strings. */
function codeOf(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\/|\/\/.*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g,
    "",
  );
}

/** The text without comments. */
function codeWithStrings(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, "");
}

describe("source files", () => {
  it("have 400 lines at most", () => {
    const long = sources.filter(
      ({ path, text }) => !TABLES.includes(path) && text.split("\n").length > MAX_LINES + 1,
    );
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  // The formatter breaks code at 100 columns and leaves comments as they are.
  it("have comments of 100 columns at most", () => {
    const isWide = (line: string): boolean =>
      line.length > 100 && /^\s*(?:\/?\*|\/\/)(?! oxlint)/.test(line) && !/\S{80}/.test(line);
    const wide = sources.flatMap(({ path, text }) =>
      text.split("\n").flatMap((line, index) => (isWide(line) ? [`${path}:${index + 1}`] : [])),
    );
    expect(wide).toEqual([]);
  });

  it("are named in kebab-case, and for one idea", () => {
    const files = globSync("{core,plugins,test}/**/*.{ts,tsx}", {
      cwd: ROOT,
      exclude: ["**/node_modules/**", "**/dist/**"],
    });
    const wrong = files.filter(
      (path) =>
        !/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:test|fixture|bench))?\.tsx?$/.test(basename(path)),
    );
    expect(wrong).toEqual([]);
    expect(
      files.filter((path) => /\/(?:utils?|helpers?|common|types|misc)\.tsx?$/.test(path)),
    ).toEqual([]);
  });

  it("say in their first line what they are", () => {
    expect(sources.filter(({ text }) => !text.startsWith("/**")).map(({ path }) => path)).toEqual(
      [],
    );
  });

  it("have no any", () => {
    expect(
      sources
        .filter(({ text }) => /[:<,|&(]\s*any\b|\bas any\b/.test(codeOf(text)))
        .map(({ path }) => path),
    ).toEqual([]);
  });

  it("leave the console to the command line", () => {
    const others = sources.filter(({ path }) => !path.startsWith("core/cli/"));
    expect(
      others.filter(({ text }) => /\bconsole\./.test(codeOf(text))).map(({ path }) => path),
    ).toEqual([]);
  });

  it("leave the end of the process and its signals to the command line", () => {
    const others = sources.filter(
      ({ path }) => path.startsWith("core/engine/") || path.startsWith("core/runtime/"),
    );
    const ends =
      /\bprocess\.(?:exit|exitCode|abort|umask|chdir)\b|\bprocess\.(?:on|once)\((?!"message")/;
    expect(
      others.filter(({ text }) => ends.test(codeWithStrings(text))).map(({ path }) => path),
    ).toEqual([]);
  });

  // V8 misreads names with escapes; see core/kit/src/json/parse.ts. A string alone has no names.
  it("parse JSON from outside by the kit", () => {
    const parses = sources.filter(({ text }) =>
      /\bJSON\.parse\((?!`\[?")/.test(codeWithStrings(text)),
    );
    const others = parses.filter(({ path }) => !OWN_JSON.some((place) => path.startsWith(place)));
    expect(parses.length).toBeGreaterThan(1);
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  it("leave the environment to the command line and the worker, which finds its assignment there", () => {
    const others = sources.filter(
      ({ path }) => !path.startsWith("core/cli/") && path !== "core/engine/src/cluster/worker.ts",
    );
    expect(
      others.filter(({ text }) => /\bprocess\.env\b/.test(codeOf(text))).map(({ path }) => path),
    ).toEqual([]);
  });
});

describe.each(packageFolders())("package %s", (folder) => {
  it("has a README, an index or a command, and a version", () => {
    const entry = folder === "core/cli" ? "bin/sluice.js" : "src/index.ts";
    const missing = ["README.md", "package.json", entry, "tsconfig.json"].filter(
      (name) => !existsSync(join(ROOT, folder, name)),
    );
    expect(missing).toEqual([]);
    const manifest = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as Record<
      string,
      unknown
    >;
    expect(manifest.version).toMatch(/^\d+\.\d+\.\d+$/);
    const name = basename(folder);
    expect(manifest.name).toBe(folder === "core/sluice" ? name : `@sluice/${name}`);
    expect(manifest.license).toBe("Apache-2.0");
    expect(manifest.description).toMatch(/\.$/);
  });
});

describe("folders", () => {
  it("hold at most 25 files each, tests included", () => {
    const counts = new Map<string, number>();
    for (const path of globSync("{core,plugins,test}/**/*.{ts,tsx,md,json}", {
      cwd: ROOT,
      exclude: (name) => name === "node_modules" || name === "dist" || name === "fixtures",
    })) {
      const folder = dirname(path);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    const wide = [...counts].filter(([folder, count]) => count > 25 && folder !== "core/decisions");
    expect(wide.map(([folder, count]) => `${folder}: ${count}`)).toEqual([]);
  });
});

describe("fixtures", () => {
  it("are under 900 files: single values stand in tables", () => {
    const paths = globSync("{core,plugins,test}/**/fixtures/**/*", {
      cwd: ROOT,
      exclude: (name) => name === "node_modules" || name === "dist",
    });
    const files = paths.filter((path) => statSync(join(ROOT, path)).isFile());
    expect(files.length).toBeGreaterThan(100);
    expect(files.length).toBeLessThan(900);
  });
});
