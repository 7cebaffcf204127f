import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageFolders, readSources, ROOT } from "./sources.ts";

const MAX_LINES = 300;
/** Tables of data may be as long as the data. */
const TABLES = ["core/spec/src/codes.ts"];

const sources = readSources();

/** The text without comments and strings. */
function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, "");
}

describe("source files", () => {
  it("have 300 lines at most", () => {
    const long = sources.filter(({ path, text }) => !TABLES.includes(path) && text.split("\n").length > MAX_LINES + 1);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it("are named in kebab-case, and for one idea", () => {
    const files = globSync("{core,plugins,test}/**/*.ts", { cwd: ROOT, exclude: ["**/node_modules/**", "**/dist/**"] });
    const wrong = files.filter((path) => !/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:test|fixture|bench))?\.ts$/.test(basename(path)));
    expect(wrong).toEqual([]);
    expect(files.filter((path) => /\/(?:utils?|helpers?|common|types|misc)\.ts$/.test(path))).toEqual([]);
  });

  it("say in their first line what they are", () => {
    expect(sources.filter(({ text }) => !text.startsWith("/**")).map(({ path }) => path)).toEqual([]);
  });

  it("have no any", () => {
    expect(sources.filter(({ text }) => /[:<,|&(]\s*any\b|\bas any\b/.test(codeOf(text))).map(({ path }) => path)).toEqual([]);
  });

  it("leave the console to the command line", () => {
    const others = sources.filter(({ path }) => !path.startsWith("core/engine/src/cli/"));
    expect(others.filter(({ text }) => /\bconsole\./.test(codeOf(text))).map(({ path }) => path)).toEqual([]);
  });

  it("leave the environment to the composition root and the command line", () => {
    const others = sources.filter(({ path }) => !/^core\/engine\/src\/(?:cli\/|bootstrap\.ts)/.test(path));
    expect(others.filter(({ text }) => /\bprocess\.env\b/.test(codeOf(text))).map(({ path }) => path)).toEqual([]);
  });
});

describe.each(packageFolders())("package %s", (folder) => {
  it("has a README, an index and a version", () => {
    const missing = ["README.md", "package.json", "src/index.ts", "tsconfig.json"].filter(
      (name) => !existsSync(join(ROOT, folder, name)),
    );
    expect(missing).toEqual([]);
    const manifest = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as Record<string, unknown>;
    expect(manifest.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(manifest.name).toBe(`@sluice/${basename(folder)}`);
    expect(manifest.license).toBe("Apache-2.0");
    expect(manifest.description).toMatch(/\.$/);
  });
});
