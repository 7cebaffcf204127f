/**
 * The templates of `sluice new`: real packages called acme, and what becomes of them under another
 * name.
 */

import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "@sluice/kit";

/** What can be made. */
export const KINDS = ["provider", "guardrail", "step", "face"] as const;
export type Kind = (typeof KINDS)[number];

/** What is written: the plugin's kind and name, and the package's name. */
export interface Naming {
  readonly kind: Kind;
  readonly name: string;
  readonly packageName: string;
}

const TEMPLATES = join(import.meta.dirname, "../../templates");
/**
 * What the names of templates end in where this package is installed: npm and checkers of packages
 * take a package.json or a test in a folder for one of this package.
 */
const PACKED = ".template";
/**
 * The name of the templates, as it stands in strings, in identifiers and in variables of the
 * environment.
 */
const NAME = /acme|Acme|ACME/g;

/**
 * The files of a template under a new name: texts by their path in the package, `package.json` and
 * `tsconfig.json` left out.
 */
export function renderTemplate(naming: Naming): Map<string, string> {
  const folder = join(TEMPLATES, naming.kind);
  const paths = globSync("**/*", { cwd: folder, exclude: ["node_modules"] });
  const files = paths
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => statSync(join(folder, path)).isFile() && nameOf(path) !== "package.json");
  return new Map(
    files
      .sort()
      .map((path) => [nameOf(path), rename(readFileSync(join(folder, path), "utf8"), naming)]),
  );
}

/** The manifest of a template under a new name. */
export function renderManifest(naming: Naming): Readonly<Record<string, unknown>> {
  const file = join(TEMPLATES, naming.kind, "package.json");
  const text = readFileSync(existsSync(file) ? file : `${file}${PACKED}`, "utf8");
  return parseJson(rename(text, naming)) as Record<string, unknown>;
}

/**
 * The files that depend on the place: of a package `inside` a checkout of Sluice, or `outside` of
 * one.
 */
export function renderPlace(place: "inside" | "outside"): Map<string, string> {
  const folder = join(TEMPLATES, place);
  const names = globSync("*", { cwd: folder }).sort();
  // npm leaves a .gitignore out of a package.
  return new Map(
    names.map((name) => [
      nameOf(name) === "gitignore" ? ".gitignore" : nameOf(name),
      readFileSync(join(folder, name), "utf8"),
    ]),
  );
}

function nameOf(path: string): string {
  return path.endsWith(PACKED) ? path.slice(0, -PACKED.length) : path;
}

function rename(text: string, { kind, name, packageName }: Naming): string {
  const words = name.split("-");
  const forms: Readonly<Record<string, string>> = {
    acme: name,
    Acme: words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(""),
    ACME: words.join("_").toUpperCase(),
  };
  return text
    .split(`@sluice/${kind}-acme`)
    .map((part) => part.replace(NAME, (form) => forms[form] ?? form))
    .join(packageName);
}
