/**
 * `sluice new`: a package that passes its tests at once, for an author to replace piece by piece.
 */

import { errorMessage } from "@sluice/contract";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { Command } from "commander";
import { parseJson } from "@sluice/kit";
import { CommandError, EXIT } from "../exit.ts";
import { outsideManifest } from "../new/manifest.ts";
import { nextSteps } from "../new/next-steps.ts";
import {
  type Kind,
  KINDS,
  type Naming,
  renderManifest,
  renderPlace,
  renderTemplate,
} from "../new/template.ts";

interface Options {
  readonly in?: string;
}

/** A name that YAML, a package, an identifier and a variable of the environment can all say. */
const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const MAX_NAME = 40;
/** The checkout that this engine belongs to, if it belongs to one. */
const CHECKOUT = resolve(import.meta.dirname, "../../../..");

/** Adds the command. */
export function addNewCommand(command: Command): void {
  command
    .description(
      "a plugin to begin with: a package whose tests pass, and a gateway file to try it with",
    )
    .argument("<kind>", KINDS.join(", "))
    .argument("<name>", "what YAML calls it: lower-case letters, digits and hyphens")
    .option(
      "--in <folder>",
      "where its folder is made; without it plugins in a checkout of Sluice, elsewhere here",
    )
    .action(runNew);
}

function runNew(kind: string, name: string, options: Options): void {
  const known = KINDS.find((one) => one === kind);
  if (known === undefined) {
    throw new CommandError(
      EXIT.usage,
      `There is no kind ${JSON.stringify(kind)}: sluice new makes ${listed(KINDS)}.`,
    );
  }
  checkName(known, name);
  const isAtCheckout = isCheckout() && realpathSync(process.cwd()) === realpathSync(CHECKOUT);
  const parent = resolve(options.in ?? (isAtCheckout ? "plugins" : "."));
  const folder = join(parent, `${known}-${name}`);
  const isInside = isCheckout() && parent === join(CHECKOUT, "plugins");
  const packageName = `${isInside ? "@sluice/" : "sluice-"}${known}-${name}`;
  const naming: Naming = { kind: known, name, packageName };
  const shown = shownPath(folder);
  makeFolder(folder, shown);
  let count: number;
  try {
    count = writePackage(folder, naming, isInside);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new CommandError(EXIT.notStarted, `${shown} cannot be written: ${errorMessage(error)}`);
  }
  console.log(
    `${shown}: ${count} files.\n\n${nextSteps(naming, { path: folder, folder: shown, isInside })}`,
  );
}

function checkName(kind: Kind, name: string): void {
  const fault =
    name.length > MAX_NAME
      ? `it has more than ${MAX_NAME} characters`
      : NAME.test(name)
        ? undefined
        : "a name has lower-case letters and digits, in words with a hyphen between, a letter first";
  if (fault !== undefined) {
    throw new CommandError(
      EXIT.usage,
      `The name ${JSON.stringify(name)} cannot be used: ${fault}.${suggestion(name)}`,
    );
  }
  if (name === kind || name.startsWith(`${kind}-`)) {
    const own = name.slice(kind.length + 1);
    throw new CommandError(
      EXIT.usage,
      `The name ${JSON.stringify(name)} begins with its kind, which the folder gets by itself.${suggestion(own)}`,
    );
  }
}

/** A suggested name; empty where there is none. */
function suggestion(name: string): string {
  const could = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^[-0-9]+|-+$/g, "")
    .slice(0, MAX_NAME);
  return NAME.test(could) ? ` Write ${could}.` : "";
}

/** Makes the folder, which must not be there. */
function makeFolder(folder: string, shown: string): void {
  try {
    mkdirSync(dirname(folder), { recursive: true });
    mkdirSync(folder);
  } catch (error) {
    if (existsSync(folder)) {
      throw new CommandError(
        EXIT.usage,
        `${shown} is there already, and nothing is overwritten: take another name, or another place with --in.`,
      );
    }
    throw new CommandError(EXIT.usage, `${shown} cannot be made: ${errorMessage(error)}`);
  }
}

/** Writes every file, and says how many they are. */
function writePackage(folder: string, naming: Naming, isInside: boolean): number {
  const manifest = renderManifest(naming);
  const files = new Map([
    ...renderTemplate(naming),
    ...renderPlace(isInside ? "inside" : "outside"),
    [
      "package.json",
      `${JSON.stringify(isInside ? manifest : outsideManifest(manifest, folder), null, 2)}\n`,
    ],
  ]);
  for (const [path, text] of files) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    // Vitest runs the tests of a checkout; elsewhere Node's own runner does, and nothing has to be
    // fetched.
    writeFileSync(file, isInside ? text : text.replace('from "vitest"', 'from "node:test"'));
  }
  return files.size;
}

/** Whether the engine runs from a checkout, whose packages npm links to each other. */
function isCheckout(): boolean {
  const file = join(CHECKOUT, "package.json");
  return existsSync(file) && "workspaces" in (parseJson(readFileSync(file, "utf8")) as object);
}

/** A path as short as it can be said from here. */
function shownPath(path: string): string {
  const near = relative(process.cwd(), path).replaceAll("\\", "/");
  return near.startsWith("../") || isAbsolute(near) ? path : near;
}

function listed(words: readonly string[]): string {
  return `a ${words.slice(0, -1).join(", a ")} or a ${words.at(-1) ?? ""}`;
}
