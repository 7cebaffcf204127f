/** The documents of the repository: what they name exists, and what they promise is there. */

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageFolders, ROOT } from "./sources.ts";

const DOCUMENTS = globSync(
  [
    "*.md",
    "docs/**/*.md",
    "core/*/*.md",
    "core/decisions/*.md",
    "plugins/*/README.md",
    "plugins/*/docs/*.md",
    "examples/**/*.md",
  ],
  { cwd: ROOT },
)
  .filter((path) => !path.includes("node_modules"))
  .sort();

/** Documents in which every span of code that looks like a path of the repository is one. */
const WITH_PATHS = ["ARCHITECTURE.md", "CONTRIBUTING.md"];

/** Lines of the README: about one page and a half. */
const MAX_README_LINES = 90;

const LINK = /\]\((?!https?:|mailto:)([^)\s]+)\)/g;
const PATH = /`((?:core|plugins|test|docs|config|pipelines|examples)(?:\/[\w.*-]+)*\/?)`/g;
const COMMAND_PATH = /\bnode (test\/[\w./-]+\.ts)|--project \w+ ((?:core|plugins|test)\/[\w./-]+)/g;

/** The text of a document without its blocks of code. */
function proseOf(path: string): string {
  return readFileSync(join(ROOT, path), "utf8").replace(/^ *```[\s\S]*?^ *```/gm, "");
}

/** The anchor that a heading has on the page of a repository. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

function anchorsOf(path: string): readonly string[] {
  return [...proseOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));
}

/** What is wrong with a link of a document, `undefined` when it leads somewhere. */
function faultOf(document: string, link: string): string | undefined {
  const [file = "", anchor] = link.split("#");
  const target = file === "" ? document : join(dirname(document), file);
  if (!existsSync(join(ROOT, target))) return `${document}: ${link} is no file`;
  if (anchor === undefined || anchorsOf(target).includes(anchor)) return undefined;
  return `${document}: ${link} is no heading`;
}

describe("the links of the documents", () => {
  it("lead to files and headings that exist", () => {
    const links = DOCUMENTS.flatMap((path) =>
      [...proseOf(path).matchAll(LINK)].map(([, link = ""]) => [path, link] as const),
    );
    expect(links.length).toBeGreaterThan(100);
    expect(
      links.map(([path, link]) => faultOf(path, link)).filter((fault) => fault !== undefined),
    ).toEqual([]);
  });

  it("that are wrong are found", () => {
    expect(faultOf("README.md", "docs/nowhere.md")).toBe("README.md: docs/nowhere.md is no file");
    expect(faultOf("docs/errors.md", "../README.md#nowhere")).toBe(
      "docs/errors.md: ../README.md#nowhere is no heading",
    );
    expect(faultOf("docs/errors.md", "#errors")).toBeUndefined();
  });
});

describe.each(WITH_PATHS)("%s", (document) => {
  const text = readFileSync(join(ROOT, document), "utf8");

  it("names paths that exist", () => {
    const spans = [...text.matchAll(PATH)].map(([, path = ""]) => path);
    const ofCommands = [...text.matchAll(COMMAND_PATH)].map(
      ([, script, place]) => script ?? place ?? "",
    );
    const paths = [...spans, ...ofCommands];
    expect(paths.length).toBeGreaterThan(15);
    expect(paths.filter((path) => globSync(path, { cwd: ROOT }).length === 0)).toEqual([]);
  });
});

describe("the entries of the documents", () => {
  it("are a README of one page and a half, and tables with one link a cell", () => {
    const readme = readFileSync(join(ROOT, "README.md"), "utf8");
    expect(readme.split("\n").length).toBeLessThanOrEqual(MAX_README_LINES);
    const index = readFileSync(join(ROOT, "docs/README.md"), "utf8");
    const rows = `${index}\n${readme.split("## Where to go next")[1]}`
      .split("\n")
      .filter((line) => line.startsWith("| "));
    expect(rows.length).toBeGreaterThan(20);
    expect(
      rows.filter((line) => line.split("|").some((cell) => [...cell.matchAll(LINK)].length > 2)),
    ).toEqual([]);
  });

  it("lead to every page of docs", () => {
    const index = readFileSync(join(ROOT, "docs/README.md"), "utf8");
    const pages = globSync("docs/*.md", { cwd: ROOT }).map((path) => path.slice("docs/".length));
    expect(pages.filter((page) => page !== "README.md" && !index.includes(`](${page})`))).toEqual(
      [],
    );
  });
});

describe("ARCHITECTURE.md", () => {
  it("has every folder of the engine and every package of core", () => {
    const text = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
    const folders = [
      ...globSync("core/engine/src/*/", { cwd: ROOT }),
      ...packageFolders().filter((path) => path.startsWith("core/")),
    ];
    expect(folders.length).toBeGreaterThan(10);
    expect(
      folders
        .map((path) => path.replace(/\/$/, ""))
        .filter((path) => !text.includes(`\`${path}\``)),
    ).toEqual([]);
  });
});

describe("the licence", () => {
  const licence = readFileSync(join(ROOT, "LICENSE"), "utf8");

  it("is Apache-2.0, whole", () => {
    expect(licence).toContain("Apache License");
    expect(licence).toContain("Version 2.0, January 2004");
    expect(licence).toContain("END OF TERMS AND CONDITIONS");
  });

  it("is the same in every package that has it: npm packs a package's own", () => {
    const copies = globSync("{core,plugins}/*/LICENSE", { cwd: ROOT });
    expect(copies.length).toBeGreaterThan(20);
    expect(copies.filter((path) => readFileSync(join(ROOT, path), "utf8") !== licence)).toEqual([]);
  });
});
