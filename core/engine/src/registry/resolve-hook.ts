/**
 * Looks on while modules find each other: a plugin file of the user's own, wherever it lies, can
 * import the kit and the contract that this engine runs with, and it is known which files a plugin
 * is made of.
 */

import { readFileSync, statSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

/** The packages that a plugin builds on. An installed copy beside the plugin wins. */
const SHARED = /^@sluice\/(?:contract|kit|runtime|testing)(?:\/|$)/;
/** What names a file and not a package. */
const FILE = /^(?:\.{0,2}\/|file:)/;

/** The folder of joined modules within a package. */
const JOINED = "/dist/bundle/";

/** A file that was imported as a file, and what it looked like at that moment. */
interface ImportedFile {
  readonly stamp: string;
  /** Files that it imports as files, by their URLs. */
  readonly imports: Set<string>;
}

const files = new Map<string, ImportedFile>();
/** By the URL of a module for which a joined one was loaded: its sources, by path, with stamps. */
const sources = new Map<string, ReadonlyMap<string, string>>();
/** How many imports were noted: `filesOf` has the same answer while it is the same. */
let noted = 0;
let isRegistered = false;

/** Registers the hook, once for the process. */
export function registerResolveHook(): void {
  if (isRegistered) return;
  isRegistered = true;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        const resolved = nextResolve(specifier, context);
        if (FILE.test(specifier)) note(resolved.url, context.parentURL);
        if (specifier.startsWith("file:") && specifier !== resolved.url)
          noteSources(specifier, resolved.url);
        return resolved;
      } catch (error) {
        if (!SHARED.test(specifier)) throw error;
        return nextResolve(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
}

function note(url: string, parentUrl: string | undefined): void {
  if (!url.startsWith("file:")) return;
  noted += 1;
  if (!files.has(url)) files.set(url, { stamp: stampOf(fileURLToPath(url)), imports: new Set() });
  if (parentUrl !== undefined) files.get(parentUrl)?.imports.add(url);
}

/** `npm run build` lists beside joined modules what they are made of. */
function noteSources(url: string, joinedUrl: string): void {
  if (sources.has(url) || !joinedUrl.includes(JOINED)) return;
  const paths = JSON.parse(readFileSync(new URL("sources.json", joinedUrl), "utf8")) as string[];
  const stamped = paths.map((path): [string, string] => {
    const source = fileURLToPath(new URL(path, joinedUrl));
    return [source, stampOf(source)];
  });
  noted += 1;
  sources.set(url, new Map(stamped));
}

/** A number that grows with every import of a file. */
export function notedImports(): number {
  return noted;
}

/**
 * The files that a module is made of: itself and what it imports by a path, and so on, so far.
 * Packages that it imports by name are not among them. By absolute path, with what each looked like
 * when it was found.
 */
export function filesOf(moduleUrl: string): ReadonlyMap<string, string> {
  const known = sources.get(moduleUrl);
  if (known !== undefined) return known;
  const found = new Map<string, string>();
  const urls = new Set([moduleUrl]);
  for (const url of urls) {
    const path = fileURLToPath(url);
    const file = files.get(url);
    found.set(path, file?.stamp ?? stampOf(path));
    for (const imported of file?.imports ?? []) urls.add(imported);
  }
  return found;
}

/** Size, time and identity of a file, as one text to compare. */
export function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "absent" : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}
