/**
 * Writes the exports of the kit into core/kit/README.md: by path, read from the indexes and from
 * the doc comments of what they name. `node test/generate/kit.ts`. What stands outside of the two
 * marks is written by hand.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

const SOURCES = "core/kit/src";
const README = join(ROOT, "core/kit/README.md");
const BEGIN = "<!-- generated -->";
const END = "<!-- /generated -->";
const NOTE =
  "<!-- Made by `node test/generate/kit.ts` from the indexes of core/kit/src. Do not edit. -->";
/** Importable, and for what runs plugins alone. */
const NOT_FOR_AUTHORS = "./internals";

/** One export of the kit; a group has members. */
export interface KitExport {
  readonly name: string;
  /** The first sentence of its doc comment. */
  readonly summary: string;
  readonly members: readonly string[];
}

/** One import path of the kit. */
export interface KitPath {
  readonly specifier: string;
  readonly summary: string;
  readonly exports: readonly KitExport[];
}

interface Named {
  readonly name: string;
  /** The name in its file. */
  readonly source: string;
  readonly file: string;
}

const NAMES = /^export (?:type )?\{([^}]*)\} from "([^"]+)";$/gms;
const GROUPS = /^export \* as (\w+) from "([^"]+)";$/gm;

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

/** The names that a file exports from others. */
function namesOf(file: string): readonly Named[] {
  return [...textOf(file).matchAll(NAMES)].flatMap(([, list = "", from = ""]) =>
    list
      .split(",")
      .map((one) => one.trim().replace(/^type /, ""))
      .filter((one) => one !== "")
      .map((one) => {
        const [source = "", name = source] = one.split(" as ");
        return { name, source, file: join(dirname(file), from) };
      }),
  );
}

/** The first sentence of a comment, without the stars of its lines. */
function firstSentence(comment: string): string {
  const plain = comment.replaceAll(/\{@link (\w+)\}/g, "`$1`");
  const text = plain.replaceAll(/\s*\n\s*\*?\s*/g, " ").trim();
  return (/^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text).replaceAll("|", String.raw`\|`);
}

/** The comment above a declaration. Throws where it has none. */
function summaryOf({ source, file }: Named): string {
  const text = textOf(file);
  const [again] = namesOf(file).filter(({ name }) => name === source);
  if (again !== undefined) return summaryOf(again);
  const declaration = new RegExp(
    String.raw`/\*\*((?:(?!\*/)[\s\S])*)\*/\s*export (?:async |declare |abstract )*(?:function\*?|class|const|type|interface) ${source}\b`,
  );
  const [, comment] = declaration.exec(text) ?? [];
  if (comment === undefined) throw new Error(`${file}: ${source} has no doc comment.`);
  return firstSentence(comment);
}

/** The comment at the top of a file. */
function titleOf(file: string): string {
  return firstSentence(/^\/\*\*([\s\S]*?)\*\//.exec(textOf(file))?.[1] ?? "");
}

function exportsOf(index: string): readonly KitExport[] {
  const single = namesOf(index).map((named) => ({
    name: named.name,
    summary: summaryOf(named),
    members: [],
  }));
  const groups = [...textOf(index).matchAll(GROUPS)].map(([, name = "", from = ""]) => {
    const file = join(dirname(index), from);
    return { name, summary: titleOf(file), members: namesOf(file).map((member) => member.name) };
  });
  return [...single, ...groups].toSorted((a, b) =>
    a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1,
  );
}

/** What the kit offers to plugin authors: every path of its package.json but the internal one. */
export function readKitPaths(): readonly KitPath[] {
  const manifest = JSON.parse(textOf("core/kit/package.json")) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  return Object.entries(manifest.exports)
    .filter(([path]) => path !== NOT_FOR_AUTHORS)
    .map(([path, file]) => {
      const index = join(dirname(SOURCES), file);
      return {
        specifier: join("@sluice/kit", path),
        summary: titleOf(index),
        exports: exportsOf(index),
      };
    });
}

/**
 * Statements of an index that the reader does not know: an export of these would be missing on the
 * page.
 */
export function unreadStatements(): readonly string[] {
  const manifest = JSON.parse(textOf("core/kit/package.json")) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  return Object.entries(manifest.exports)
    .filter(([path]) => path !== NOT_FOR_AUTHORS)
    .flatMap(([, file]) => {
      const rest = textOf(join(dirname(SOURCES), file))
        .replaceAll(NAMES, "")
        .replaceAll(GROUPS, "");
      return rest.split("\n").filter((line) => line.startsWith("export"));
    });
}

/**
 * The README with a fresh generated part: a table for each path. Throws an `Error` when it has no
 * marks.
 */
export function freshKitPage(): string {
  const text = readFileSync(README, "utf8");
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined)
    throw new Error(`${README} has no line ${BEGIN} and ${END}.`);
  return `${before}${BEGIN}\n${NOTE}\n\n${tables()}\n\n${END}${after}`;
}

function tables(): string {
  return readKitPaths()
    .map(({ specifier, summary, exports }) => {
      const rows = exports.map(({ name, summary: text, members }) => {
        const listed =
          members.length === 0 ? "" : ` ${members.map((member) => `\`${member}\``).join(", ")}`;
        return `| \`${name}\` | ${text}${listed} |`;
      });
      return [
        `### \`${specifier}\``,
        "",
        summary,
        "",
        "| Export | What it is |",
        "|---|---|",
        ...rows,
      ].join("\n");
    })
    .join("\n\n");
}

if (import.meta.main) writeFileSync(README, freshKitPage());
