/** The commands of the documents, held against what the command line itself says it takes. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { COMPILES } from "../../../core/cli/src/new/manifest.ts";
import { runCommand } from "../support/gateway-process.ts";

const ROOT = join(import.meta.dirname, "../../..");
const DOCUMENTS = globSync(
  [
    "*.md",
    "docs/*.md",
    "examples/*/README.md",
    "{core,plugins}/*/README.md",
    "plugins/*/docs/*.md",
    "core/cli/templates/*/README.md",
  ],
  {
    cwd: ROOT,
  },
);

/** A command as a document writes it: `keys create --alias laptop`. */
interface Written {
  /** `docs/reload.md:25`. */
  readonly at: string;
  readonly words: readonly string[];
}

/** In a code block a line of its own, in a text a span of code. */
const IN_BLOCK =
  /^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:npm run (?:-s |--silent )?sluice -- |npx sluice |sluice )(.+)$/;
const IN_TEXT = /`(?:[A-Z_]+=\S+ )*(?:npm run (?:-s )?sluice -- |npx sluice |sluice )([^`]+)`/g;
const SCRIPT = /npm run (?:-s |--silent )?([\w:-]+)/g;

function readCommands(path: string): Written[] {
  let isBlock = false;
  return readFileSync(join(ROOT, path), "utf8")
    .split("\n")
    .flatMap((line, index) => {
      if (/^ *```/.test(line)) {
        isBlock = !isBlock;
        return [];
      }
      const own = IN_BLOCK.exec(line.trim())?.[1];
      const found = isBlock
        ? own === undefined
          ? []
          : [own]
        : [...line.matchAll(IN_TEXT)].map(([, command = ""]) => command);
      return found.flatMap((command) =>
        alternatives(command).map((words) => ({ at: `${path}:${index + 1}`, words })),
      );
    });
}

/**
 * `keys list | info` is two commands. What follows a remark, and what a reader puts in, is no part
 * of one.
 */
function alternatives(command: string): readonly string[][] {
  const words = command
    .replace(/ +# .*$/, "")
    .replaceAll(/'[^']*'|"[^"]*"/g, "TEXT")
    .split(/[\s[\]…]+/)
    .filter(Boolean);
  const bar = words.indexOf("|");
  if (bar < 0) return [words];
  const group = words.slice(0, Math.max(bar - 1, 0));
  return words
    .slice(group.length)
    .filter((word) => word !== "|")
    .map((word) => [...group, word]);
}

/** What `--help` of a command says: its subcommands and its options. */
interface Help {
  readonly commands: readonly string[];
  readonly options: ReadonlySet<string>;
}

const helps = new Map<string, Help>();

async function readHelp(path: readonly string[]): Promise<void> {
  const command = runCommand([...path, "--help"], ROOT);
  await command.ended;
  const [options = "", commands = ""] = command.stdout.split(/^Commands:$/m);
  const names = [...commands.matchAll(/^ {2}([a-z][\w-]*)/gm)]
    .map(([, name = ""]) => name)
    .filter((name) => name !== "help");
  helps.set(path.join(" "), { commands: names, options: new Set(options.match(/--[a-z][\w-]*/g)) });
  await Promise.all(names.map((name) => readHelp([...path, name])));
}

/** What is wrong with a command, `undefined` when the command line takes it. */
function faultOf(words: readonly string[]): string | undefined {
  let path = "";
  let at = 0;
  for (; helps.get(path)?.commands.includes(words[at] ?? "") === true; at++)
    path = [path, words[at]].filter(Boolean).join(" ");
  const help = helps.get(path);
  const rest = words.slice(at);
  if (
    help === undefined ||
    (help.commands.length > 0 && rest[0]?.startsWith("--") !== true && !isPlaceholder(rest[0]))
  ) {
    return `there is no command ${[path, rest[0] ?? ""].join(" ").trim()}`;
  }
  const unknown = rest
    .filter((word) => word.startsWith("--"))
    .find((word) => !help.options.has(word.replace(/[=,.;)].*$/, "")));
  return unknown === undefined ? undefined : `${path} has no option ${unknown}`;
}

function isPlaceholder(word: string | undefined): boolean {
  return word === undefined || /^<.*>$/.test(word);
}

beforeAll(() => readHelp([]));

describe("the commands of the documents", () => {
  it("exist, with their options", () => {
    const commands = DOCUMENTS.flatMap(readCommands);
    expect(commands.length).toBeGreaterThan(60);
    const faults = commands.flatMap(({ at, words }) => {
      const fault = faultOf(words);
      return fault === undefined ? [] : [`${at}  ${fault}: sluice ${words.join(" ")}`];
    });
    expect(faults).toEqual([]);
  });

  it("that npm runs are scripts of the repository, or of the packages that sluice new makes", () => {
    const manifests = globSync(["package.json", "core/cli/templates/*/package.json"], {
      cwd: ROOT,
    });
    const ofManifests = manifests.flatMap((path) => {
      const manifest = JSON.parse(readFileSync(join(ROOT, path), "utf8")) as {
        readonly scripts?: object;
      };
      return Object.keys(manifest.scripts ?? {});
    });
    const scripts = new Set([...ofManifests, ...Object.keys(COMPILES)]);
    const named = DOCUMENTS.flatMap((path) =>
      [...readFileSync(join(ROOT, path), "utf8").matchAll(SCRIPT)].map(([, name = ""]) => ({
        path,
        name,
      })),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ name }) => !scripts.has(name))).toEqual([]);
  });

  it("that are wrong are found", () => {
    expect(faultOf(["chek"])).toBe("there is no command chek");
    expect(faultOf(["keys", "make"])).toBe("there is no command keys make");
    expect(faultOf(["check", "--covrage"])).toBe("check has no option --covrage");
    expect(alternatives("keys list | info")).toEqual([
      ["keys", "list"],
      ["keys", "info"],
    ]);
    expect(faultOf(["check", "--coverage", "--json"])).toBeUndefined();
  });

  it("are all documented", () => {
    const documented = new Set(DOCUMENTS.flatMap(readCommands).map(({ words }) => words[0]));
    const readme = readFileSync(join(ROOT, "README.md"), "utf8");
    const untold = (helps.get("")?.commands ?? []).filter(
      (name) => !documented.has(name) && !new RegExp(`(?:\`|… )${name}(?:\`| )`).test(readme),
    );
    expect(untold).toEqual([]);
  });
});
