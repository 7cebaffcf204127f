/** `sluice eject`: copies of shipped pipelines, to edit. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { openConfig, SHIPPED, SHIPPED_PIPELINES, usualFolder } from "@sluice/engine/config";
import { isMap, isScalar, parseDocument } from "yaml";
import { CommandError, EXIT } from "../exit.ts";
import { flow } from "../yaml-text.ts";

/** Options of the command. */
export interface EjectOptions {
  readonly config: string;
}

/**
 * Copies pipelines by their names. Throws a CommandError and writes nothing when one cannot be
 * copied.
 */
export function eject(names: readonly string[], { config }: EjectOptions): void {
  const known = shippedNames();
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new CommandError(
      EXIT.usage,
      `There is no shipped pipeline ${unknown}: choose of ${known.join(", ")}.`,
    );
  if (!existsSync(config))
    throw new CommandError(EXIT.usage, `${config} is not there: sluice init writes one.`);
  const { folder, line } = placeOf(config);
  const files = names.map((name) => [join(folder, `${name}.yaml`), shippedText(name)] as const);
  const taken = files.find(([path]) => existsSync(path));
  if (taken !== undefined)
    throw new CommandError(
      EXIT.usage,
      `${shown(taken[0])} is there already, and nothing is overwritten.`,
    );
  // A gateway that runs refuses the line as long as the folder is not there. A folder without the
  // line would take the place of all shipped pipelines.
  if (line !== undefined) writeFileSync(config, line.text);
  mkdirSync(folder, { recursive: true });
  for (const [path, text] of files) {
    writeFileSync(path, text);
    console.log(`wrote ${shown(path)}`);
  }
  if (line !== undefined)
    console.log(
      `${config} has the line ${line.written}: the other shipped pipelines serve as before`,
    );
}

/**
 * The folder of the own pipelines, and the gateway file with a line that names it, if it needs one.
 */
function placeOf(config: string): {
  readonly folder: string;
  readonly line: { readonly written: string; readonly text: string } | undefined;
} {
  const home = dirname(resolve(config));
  const { gateway, pipelines, findings } = openConfig({
    path: config,
    cwd: process.cwd(),
    environment: process.env,
  });
  if (gateway === undefined)
    throw new CommandError(
      EXIT.findings,
      `${config} cannot be read: ${findings[0]?.message ?? ""}.`,
    );
  const { pipelines: named } = (gateway.value ?? {}) as { readonly pipelines?: unknown };
  if (typeof named === "string") return { folder: resolve(home, named), line: undefined };
  const own = Array.isArray(named) ? named.findLast((name) => name !== SHIPPED) : undefined;
  if (typeof own === "string") return { folder: resolve(home, own), line: undefined };
  if (named !== undefined)
    throw new CommandError(
      EXIT.usage,
      `\`pipelines\` of ${config} names no folder of yours: write pipelines: [shipped, pipelines].`,
    );
  const inUse = pipelines[0]?.document.path;
  if (inUse !== undefined && dirname(inUse) !== SHIPPED_PIPELINES)
    return { folder: dirname(inUse), line: undefined };
  const folder = usualFolder(home);
  if (folder === SHIPPED_PIPELINES)
    throw new CommandError(
      EXIT.usage,
      `${config} serves ${shown(folder)} itself: edit the files there.`,
    );
  const name = relative(home, folder).replaceAll("\\", "/");
  const written = `pipelines: ${flow([SHIPPED, name])}`;
  return { folder, line: { written, text: withLine(readFileSync(config, "utf8"), written) } };
}

/** A text of YAML with a line more: after `version`, else before the first key. */
function withLine(text: string, line: string): string {
  const { contents } = parseDocument(text);
  if (!isMap(contents) || contents.flow === true)
    throw new CommandError(EXIT.usage, `Add the line yourself: ${line}.`);
  const [first] = contents.items;
  const start = isScalar(first?.key) ? (first.key.range?.[0] ?? 0) : 0;
  const isVersion = isScalar(first?.key) && first.key.value === "version";
  const at = isVersion ? text.indexOf("\n", start) + 1 : start;
  if (isVersion && at === 0) return `${text}\n${line}\n`;
  return `${text.slice(0, at)}${line}\n${text.slice(at)}`;
}

/** The schema that its first line names is one of the installation. */
function shippedText(name: string): string {
  const text = readFileSync(join(SHIPPED_PIPELINES, `${name}.yaml`), "utf8");
  return text.replace(/^# yaml-language-server:.*\n/, "");
}

function shippedNames(): readonly string[] {
  return readdirSync(SHIPPED_PIPELINES)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => name.slice(0, -".yaml".length))
    .sort();
}

function shown(path: string): string {
  const near = relative(process.cwd(), path).replaceAll("\\", "/");
  return near.startsWith("..") ? path : near;
}
