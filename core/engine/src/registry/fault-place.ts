/**
 * Where the fault of a plugin is: the file, line and column of what it threw, or of its syntax
 * error.
 */

import { errorMessage } from "@sluice/contract";
import { spawnSync } from "node:child_process";
import { stackPlaces } from "@sluice/runtime";

/** The head of a syntax error's stack: the place, the line of code, and a mark below the column. */
const HEAD = /^(?:file:\/\/)?(\/.*):(\d+)\n(?:.*\n){1,4}?( *)\^/;
const CHECK_TIMEOUT_MS = 5_000;
const CHECK_FLAGS = [
  "--experimental-vm-modules",
  "--disable-warning=ExperimentalWarning",
  "--input-type=module",
  "--eval",
];

/**
 * Compiles files without running them, the types taken out. Node prints the place of a fault that
 * nothing catches.
 */
const CHECK = `
  import { readFileSync } from "node:fs";
  import { stripTypeScriptTypes } from "node:module";
  import { SourceTextModule } from "node:vm";
  for (const path of JSON.parse(process.argv[1])) {
    const text = readFileSync(path, "utf8");
    new SourceTextModule(/\\.m?ts$/.test(path) ? stripTypeScriptTypes(text) : text, { identifier: path });
  }
`;

/** `path:line:column` of what a plugin threw; `undefined` where its stack names no file. */
export function thrownAt(error: unknown): string | undefined {
  return headOf(error instanceof Error ? error.stack : undefined) ?? stackPlaces(error)[0];
}

/** A message, and the place in the plugin where it was thrown. */
export function withPlace(error: unknown): string {
  const said = errorMessage(error);
  const place = thrownAt(error);
  return place === undefined ? said : `${said} (${place})`;
}

/**
 * `path:line:column` of what loading a module threw. Node tells no place of a syntax error in
 * JavaScript: then `files`, the module and what it imports, are compiled once more in a process
 * that can.
 */
export function loadFaultAt(error: unknown, files: readonly string[]): string | undefined {
  const place = thrownAt(error);
  if (place !== undefined || !(error instanceof SyntaxError)) return place;
  const { stderr } = spawnSync(process.execPath, [...CHECK_FLAGS, CHECK, JSON.stringify(files)], {
    encoding: "utf8",
    env: {},
    timeout: CHECK_TIMEOUT_MS,
  });
  return headOf(stderr?.trimStart());
}

function headOf(stack: string | undefined): string | undefined {
  const [, path, line, indent] = HEAD.exec(stack ?? "") ?? [];
  return path === undefined || indent === undefined
    ? undefined
    : `${path}:${line}:${indent.length + 1}`;
}
