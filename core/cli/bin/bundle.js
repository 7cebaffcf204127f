// The joined files of this checkout, which `npm run build` makes (test/build/bundle.ts): used while every source is as it was then.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Where `npm run build` writes what it joined, relative to the checkout. */
export const INDEX_FILE = "node_modules/.cache/sluice-bundle.json";

/** Size and time of change of a file, as one text. Whole seconds: the layers of an image keep no parts of one. */
export function stampOf(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "absent" : `${stats.size} ${Math.floor(stats.mtimeMs / 1_000)}`;
}

/**
 * A hook for `registerHooks` that resolves imports of this checkout's packages to their joined files. `undefined` without such files,
 * and when a source, or an installed package, has changed since.
 */
export function bundleHook(root) {
  const index = readIndex(root);
  if (index === undefined || !isFresh(root, index)) return undefined;
  const base = pathToFileURL(join(root, "/")).href;
  const urls = (paths, key) =>
    new Map(Object.entries(paths).map(([from, to]) => [key(from), base + to]));
  const entries = urls(index.entries, (path) => base + path);
  const names = urls(index.names, (name) => name);
  const joined = new Set(index.outputs.map((path) => base + path));
  const own = (url) => ({ url, format: "module", shortCircuit: true });
  return (specifier, context, next) => {
    const { parentURL } = context;
    if (context.conditions.includes("require")) return next(specifier, context);
    if (joined.has(parentURL)) {
      if (specifier.startsWith("./")) return own(new URL(specifier, parentURL).href);
      const named = names.get(specifier);
      if (named !== undefined) return own(named);
    }
    const entry = entries.get(specifier);
    if (entry !== undefined) return own(entry);
    const resolved = next(specifier, context);
    const other = entries.get(resolved.url);
    return other === undefined ? resolved : own(other);
  };
}

function readIndex(root) {
  try {
    return JSON.parse(readFileSync(join(root, INDEX_FILE), "utf8"));
  } catch {
    return undefined;
  }
}

function isFresh(root, { files, outputs }) {
  for (const path in files) if (stampOf(join(root, path)) !== files[path]) return false;
  return outputs.every((path) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile());
}
