/**
 * Builds the dashboard: `node core/dashboard/build.ts` writes `dist/ui`, unless it is newer than
 * the sources (`--force`). `--check` also holds the sizes against the budgets.
 */

import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { InlineConfig } from "vite";
import { faultsOf } from "./budgets.ts";
import type { DashboardFile } from "./src/index.ts";

const FOLDER = import.meta.dirname;
const OUTPUT = join(FOLDER, "dist/ui");
const SOURCES = ["index.html", "package.json", "build.ts", "src/**/*"];

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * Modules that screens share are in two files: on a slow processor, each file delays the first
 * paint by some milliseconds.
 */
const GROUPS = [
  {
    name: "parts",
    test: /dashboard\/src\/(?:api|app|parts)\/(?!chart|text-diff)/,
    minShareCount: 2,
  },
  { name: "records", test: /dashboard\/src\/records\//, minShareCount: 2 },
];

/** The settings of Vite for the build and for `npm run dev:dashboard`. */
export const VITE: InlineConfig = {
  root: FOLDER,
  base: "./",
  configFile: false,
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    // What a screen imports is fetched with it, not after it.
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    rolldownOptions: { output: { codeSplitting: { groups: GROUPS } } },
    reportCompressedSize: false,
    emptyOutDir: true,
  },
};

/** Whether `dist/ui` is older than a source, or not there. */
export function isStale(): boolean {
  const list = join(OUTPUT, "files.json");
  if (!existsSync(list)) return true;
  const builtMs = statSync(list).mtimeMs;
  return globSync(SOURCES, { cwd: FOLDER }).some(
    (path) => statSync(join(FOLDER, path)).mtimeMs > builtMs,
  );
}

/** Builds into a folder beside the present one, which is then replaced. */
export async function buildDashboard(): Promise<Readonly<Record<string, DashboardFile>>> {
  const { build } = await import("vite");
  const fresh = join(FOLDER, `dist/ui-${process.pid}`);
  mkdirSync(dirname(fresh), { recursive: true });
  await inProduction(() => build({ ...VITE, build: { ...VITE.build, outDir: fresh } }));
  const files = describeFiles(fresh);
  writeFileSync(join(fresh, "files.json"), `${JSON.stringify(files, null, 2)}\n`);
  rmSync(OUTPUT, { recursive: true, force: true });
  renameSync(fresh, OUTPUT);
  return files;
}

/** Vite takes an environment that is set, such as that of tests, before that of the build. */
async function inProduction(work: () => Promise<unknown>): Promise<void> {
  const before = process.env["NODE_ENV"];
  process.env["NODE_ENV"] = "production";
  try {
    await work();
  } finally {
    if (before === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = before;
  }
}

function describeFiles(folder: string): Readonly<Record<string, DashboardFile>> {
  const paths = globSync("**/*.*", { cwd: folder }).map((path) => path.replaceAll("\\", "/"));
  return Object.fromEntries(
    paths.sort().map((path) => {
      const bytes = readFileSync(join(folder, path));
      const type = TYPES[extname(path)];
      if (type === undefined) throw new Error(`The build made ${path}, which has no media type.`);
      const digest = createHash("sha384").update(bytes).digest("base64");
      return [
        path,
        { type, integrity: `sha384-${digest}`, gz: gzipSync(bytes, { level: 9 }).length },
      ];
    }),
  );
}

if (import.meta.main) {
  const isAsked = (option: string): boolean => process.argv.includes(option);
  if (isAsked("--force") || isStale()) await buildDashboard();
  if (isAsked("--check")) {
    const { lines, faults } = faultsOf(OUTPUT);
    console.log(lines.join("\n"));
    if (faults.length > 0) {
      console.error(faults.join("\n"));
      process.exit(1);
    }
  }
}
