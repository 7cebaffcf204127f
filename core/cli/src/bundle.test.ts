import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import type { ResolveHookSync } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const { bundleHook, INDEX_FILE, stampOf } = (await import(
  new URL("../bin/bundle.js", import.meta.url).href
)) as {
  readonly INDEX_FILE: string;
  readonly stampOf: (path: string) => string;
  readonly bundleHook: (root: string) => ResolveHookSync | undefined;
};

const SOURCE = "core/kit/src/index.ts";
const JOINED = "core/kit/dist/bundle/index-1.js";
const OTHER = "core/engine/dist/bundle/check-1.js";

describe("joined files of a checkout", () => {
  let root: string;
  const urlOf = (path: string): string => pathToFileURL(join(root, path)).href;
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "sluice-bundle-"));
    for (const path of [SOURCE, JOINED, OTHER]) write(path, "export {};\n");
    const files = { [SOURCE]: stampOf(join(root, SOURCE)) };
    const names = { "@sluice/kit": JOINED };
    const index = { files, outputs: [JOINED, OTHER], entries: { [SOURCE]: JOINED }, names };
    write(INDEX_FILE, JSON.stringify(index));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  /** Where an import leads; `next` where Node resolves it. */
  function resolved(specifier: string, from: string | undefined, nodes = urlOf(SOURCE)): string {
    const context = {
      parentURL: from === undefined ? undefined : urlOf(from),
      conditions: ["node", "import"],
      importAttributes: {},
    };
    const found = bundleHook(root)?.(specifier, context, () => ({ url: nodes }));
    return found === undefined || found instanceof Promise ? "" : found.url;
  }

  it("are loaded for the source, for its name in other joined files, and for a plugin's import of it", () => {
    expect(resolved(urlOf(SOURCE), undefined)).toBe(urlOf(JOINED));
    expect(resolved("@sluice/kit", OTHER)).toBe(urlOf(JOINED));
    expect(resolved("@sluice/kit", "plugin.ts")).toBe(urlOf(JOINED));
    expect(resolved("./part-1.js", OTHER)).toBe(urlOf("core/engine/dist/bundle/part-1.js"));
    expect(resolved("koa", OTHER, urlOf("node_modules/koa/index.js"))).toBe(
      urlOf("node_modules/koa/index.js"),
    );
  });

  it("are not what `require.resolve` finds: a plugin is known by its source", () => {
    const context = {
      parentURL: urlOf(OTHER),
      conditions: ["node", "require"],
      importAttributes: {},
    };
    expect(bundleHook(root)?.("@sluice/kit", context, () => ({ url: urlOf(SOURCE) }))).toEqual({
      url: urlOf(SOURCE),
    });
  });

  it.each<[string, () => void]>([
    ["a source has another size", () => write(SOURCE, "export const edited = 1;\n")],
    ["a source has another time", () => utimesSync(join(root, SOURCE), 1, 1)],
    ["a source is missing", () => rmSync(join(root, SOURCE))],
    ["a joined file is missing", () => rmSync(join(root, JOINED))],
    ["there is no index", () => rmSync(join(root, INDEX_FILE))],
    ["the index is damaged", () => write(INDEX_FILE, "{")],
  ])("are not used when %s", (_what, change) => {
    expect(bundleHook(root)).toBeDefined();
    change();
    expect(bundleHook(root)).toBeUndefined();
  });
});
