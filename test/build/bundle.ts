/**
 * `npm run build`: joins the modules of each package to a few files in its `dist/bundle`, which the
 * command loads instead of the sources while these are unchanged (`core/cli/bin/bundle.js`).
 * Nothing but the time of a start depends on them.
 */

import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type OutputChunk, type Plugin, rolldown } from "rolldown";
import {
  loadTable,
  type SeedTable,
  tableName,
  TABLES_FOLDER,
} from "../../core/engine/src/config/prices/seed-table.ts";
import { type Preset, PRESETS } from "../../plugins/provider-compatible/src/presets.ts";

const { INDEX_FILE, stampOf } = (await import(
  new URL("../../core/cli/bin/bundle.js", import.meta.url).href
)) as { readonly INDEX_FILE: string; readonly stampOf: (path: string) => string };

const ROOT = join(import.meta.dirname, "../..");
/** Changes with every installation. */
const INSTALLED = "node_modules/.package-lock.json";
const OUTPUT = "dist/bundle";

/** Packages of many small files, which are joined too. Others are loaded as they are installed. */
const JOINED: ReadonlySet<string> = new Set([
  "chokidar",
  "commander",
  "diff",
  "eventsource-parser",
  "koa",
  "kysely",
  "lru-cache",
  "pino",
  "semver",
  "yaml",
]);

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string>>;
}

/** What `core/cli/bin/bundle.js` reads. Paths are relative to the checkout. */
interface Index {
  /** Stamps of all files that were read. */
  readonly files: Record<string, string>;
  readonly outputs: string[];
  /** The joined file of a source that others import. */
  readonly entries: Record<string, string>;
  /** The joined file of a name that other packages import. */
  readonly names: Record<string, string>;
}

const startedMs = performance.now();
const index: Index = { files: {}, outputs: [], entries: {}, names: {} };
for (const path of globSync("{core,plugins}/*/package.json", { cwd: ROOT }).sort())
  await joinPackage(dirname(path));
writeTables(join(ROOT, "core/engine", OUTPUT, TABLES_FOLDER));
index.files[INSTALLED] = stampOf(join(ROOT, INSTALLED));
const changed = Object.keys(index.files).filter(
  (path) => stampOf(join(ROOT, path)) !== index.files[path],
);
if (changed.length > 0) throw new Error(`Changed while it was read, run it again: ${changed[0]}`);
// A stamp has whole seconds: an edit after this one must have another.
await pause(1_000 - (Date.now() % 1_000));
const indexFile = join(ROOT, INDEX_FILE);
const before = existsSync(indexFile)
  ? (JSON.parse(readFileSync(indexFile, "utf8")) as Index)
  : undefined;
mkdirSync(dirname(indexFile), { recursive: true });
writeFileSync(`${indexFile}.new`, JSON.stringify(index));
renameSync(`${indexFile}.new`, indexFile);
// A process that runs may still load the files of the last build.
const kept = new Set([...index.outputs, ...(before?.outputs ?? [])]);
for (const path of globSync(`{core,plugins}/*/${OUTPUT}/*.js`, { cwd: ROOT }))
  if (!kept.has(path)) rmSync(join(ROOT, path));
const ms = Math.round(performance.now() - startedMs);
console.log(
  `${Object.keys(index.files).length} files are joined to ${index.outputs.length}, in ${ms} ms`,
);

/** Writes the tables of built-in prices of all shipped providers, and `null` for those without. */
function writeTables(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const plugins = globSync("plugins/provider-*", { cwd: ROOT }).map((path) =>
    path.replace("plugins/provider-", ""),
  );
  const priced = Object.entries<Preset>(PRESETS).map(([name, { priceAs = name }]) => priceAs);
  // The provider of preflights is no plugin.
  const names = ["sluice-test", "compatible", "gemini", "vertex", ...plugins, ...priced].map(tableName);
  const ids = new Set(names);
  for (const id of ids) {
    const table = loadTable(id);
    for (const other of table?.fallback_model_providers ?? []) ids.add(other);
    writeFileSync(join(folder, `${id}.json`), JSON.stringify(readParts(table)));
  }
}

/** What is read of a table. */
function readParts(table: SeedTable | undefined): SeedTable | null {
  if (table === undefined) return null;
  const { id, fallback_model_providers } = table;
  const models = table.models.map((model) => ({
    id: model.id,
    match: model.match,
    prices: model.prices,
    context_window: model.context_window,
    deprecated: model.deprecated,
  })) as SeedTable["models"];
  return { id, models, ...(fallback_model_providers && { fallback_model_providers }) };
}

/** Joins the modules of the package in a folder, and adds them to the index. */
async function joinPackage(folder: string): Promise<void> {
  const file = join(folder, "package.json");
  const { name, exports = {} } = JSON.parse(readFileSync(join(ROOT, file), "utf8")) as Manifest;
  const input: Record<string, string> = {};
  for (const [key, path] of Object.entries(exports))
    if (path.endsWith(".ts") && !path.includes("fixture"))
      input[key.replace(/^\.\/?/, "") || "index"] = join(ROOT, folder, path);
  if (name === "@sluice/cli") input.main = join(ROOT, folder, "src/main.ts");
  if (name === "@sluice/testing" || Object.keys(input).length === 0) return;
  index.files[file] = stampOf(join(ROOT, file));
  const bundle = await rolldown({
    input,
    platform: "node",
    cwd: ROOT,
    external: isExternal,
    logLevel: "silent",
    plugins: [places(join(ROOT, folder, OUTPUT)), inOneByte()],
  });
  const { output } = await bundle.write({
    dir: join(ROOT, folder, OUTPUT),
    format: "esm",
    entryFileNames: "[name]-[hash].js",
    chunkFileNames: "[name]-[hash].js",
    comments: false,
  });
  for (const chunk of output)
    if (chunk.type === "chunk") add(chunk, `${folder}/${OUTPUT}/${chunk.fileName}`);
  writeFileSync(
    join(ROOT, folder, OUTPUT, "sources.json"),
    JSON.stringify(
      Object.keys(index.files)
        .filter((path) => path.startsWith(`${folder}/src/`))
        .map((path) => relative(join(folder, OUTPUT), path)),
    ),
  );
  for (const [key, path] of Object.entries(exports)) {
    const entry = index.entries[join(folder, path)];
    if (entry !== undefined) index.names[join(name, key)] = entry;
  }
}

function add({ facadeModuleId, isEntry }: OutputChunk, output: string): void {
  index.outputs.push(output);
  if (isEntry && facadeModuleId !== null) index.entries[relative(ROOT, facadeModuleId)] = output;
}

function isExternal(id: string, importer: string | undefined): boolean {
  if (id.startsWith(".") || id.startsWith("/") || id.startsWith("\0")) return false;
  if (id.startsWith("node:")) return true;
  if (importer?.includes("/node_modules/") === true) return false;
  return !JOINED.has(/^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? id);
}

/**
 * V8 keeps the text of a module for as long as it lives, in two bytes a character as soon as one of
 * them is beyond ASCII. Those are written as escapes, which mean the same in texts, templates and
 * patterns.
 */
function inOneByte(): Plugin {
  return {
    name: "in-one-byte",
    renderChunk(code, { fileName }) {
      if (/\braw`[^`]*[^\0-\x7f]/.test(code))
        throw new Error(`${fileName}: a raw template has a character beyond ASCII.`);
      return code.replaceAll(/(\\*)([^\0-\x7f])/g, (_all, slashes: string, unit: string) => {
        if (slashes.length % 2 === 1)
          throw new Error(`${fileName}: a backslash stands before ${unit}.`);
        return `${slashes}\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
      });
    },
  };
}

/** `import.meta` says where the source is: threads, folders and manifests are found from there. */
function places(output: string): Plugin {
  return {
    name: "places",
    transform(code, id) {
      if (!id.startsWith(ROOT) || id.includes("/node_modules/")) return null;
      index.files[relative(ROOT, id)] = stampOf(id);
      const path = (to: string): string =>
        `process.getBuiltinModule("node:path").join(import.meta.dirname, ${JSON.stringify(relative(output, to))})`;
      return code
        .replaceAll(
          "import.meta.url",
          `new URL(${JSON.stringify(relative(output, id))}, import.meta.url).href`,
        )
        .replaceAll(/import\.meta\.(dirname|filename)/g, (_all, what: string) =>
          path(what === "dirname" ? dirname(id) : id),
        )
        .replaceAll("import.meta.joined", 'new URL(".", import.meta.url).href');
    },
  };
}
