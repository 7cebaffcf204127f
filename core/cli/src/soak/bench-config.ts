/**
 * The user's configuration with a fake upstream in place of its providers, in a folder of its own,
 * to be edited over and over.
 */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type Document, isScalar, parseDocument, visit } from "yaml";
import type { OpenedConfig, Snapshot } from "@sluice/engine/config";

/** A folder that a gateway is started in. */
export interface BenchConfig {
  readonly folder: string;
  readonly path: string;
  /** Writes the file anew: a comment, and every provider's account, have the edit's number. */
  edit(number: number): void;
  remove(): void;
}

/** Stands for the edit's number. */
const MARK = "edit-of-the-soak";

/** Providers that answer by themselves stay. */
const STAYS = new Set(["echo"]);

/**
 * Makes it. The user's pipelines and prices are read where they are, and nothing of the user's is
 * written to.
 */
export function createBenchConfig(
  opened: OpenedConfig,
  snapshot: Snapshot,
  upstreamUrl: string,
): BenchConfig {
  const folder = mkdtempSync(join(tmpdir(), "sluice-soak-"));
  mkdirSync(join(folder, "data"));
  const home = dirname(opened.path);
  linkPackages(home, folder);
  const path = join(folder, "gateway.yaml");
  const yaml = parseDocument(opened.gateway?.document.text ?? "");
  moveReferences(yaml, home);
  yaml.setIn(["server", "data_directory"], join(folder, "data"));
  for (const key of ["host", "port", "admin", "workers"]) yaml.deleteIn(["server", key]);
  yaml.set("store", yaml.createNode({ use: "sqlite", path: join(folder, "data/sluice.db") }));
  yaml.set("shared", yaml.createNode({ use: "memory" }));
  yaml.set("plugins", yaml.createNode(pluginsOf(snapshot, home)));
  yaml.set("pipelines", resolve(dirname(pipelineFileOf(opened, home))));
  if (opened.prices === undefined) yaml.delete("prices");
  else yaml.set("prices", opened.prices.document.path);
  // It is the last key, wherever the others were put. Without it every edit is as good.
  yaml.delete("end_of_config");
  const replaced = snapshot.providers.filter(({ use }) => !STAYS.has(use));
  for (const { name } of replaced) {
    const options = {
      use: "openai",
      api_key: "${env:SLUICE_SOAK_KEY}",
      base_url: upstreamUrl,
      organization: MARK,
    };
    yaml.setIn(["providers", name], yaml.createNode(options));
  }
  // Made once: the edits are written by the process that also measures.
  const text = yaml.toString({ lineWidth: 0 });
  const edit = (number: number): void => {
    const draft = `${path}.draft`;
    writeFileSync(draft, `# edit ${number}\n${text.replaceAll(MARK, `edit-${number}`)}`);
    renameSync(draft, path);
  };
  edit(0);
  return { folder, path, edit, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function pipelineFileOf({ pipelines }: OpenedConfig, home: string): string {
  return pipelines[0]?.document.path ?? join(home, "../pipelines/none.yaml");
}

/**
 * What the fake upstream, the store and the state need is added, where it is not there in whatever
 * version.
 */
function pluginsOf({ plugins }: Snapshot, home: string): string[] {
  const listed = plugins.map(({ specifier }) =>
    /^\.{1,2}\//.test(specifier) ? resolve(home, specifier) : specifier,
  );
  const needed = ["provider-openai", "store-sqlite", "shared-memory"].map(
    (name) => `@sluice/${name}`,
  );
  const missing = needed.filter(
    (name) => !listed.some((specifier) => specifier === name || specifier.startsWith(`${name}@`)),
  );
  return [...listed, ...missing.map((name) => `${name}@^1.0.0`)];
}

/** `${file:…}` is relative to the file that says it, which now lies elsewhere. */
function moveReferences(yaml: Document, home: string): void {
  visit(yaml, {
    Scalar(_key, node) {
      if (!isScalar(node) || typeof node.value !== "string") return;
      node.value = node.value.replace(
        /\$\{file:([^}]+)\}/g,
        (_whole, name: string) => `\${file:${resolve(home, name)}}`,
      );
    },
  });
}

/** Plugins of the user's are found from the folder of the gateway file upwards. */
function linkPackages(home: string, folder: string): void {
  for (let place = home; ; place = dirname(place)) {
    const packages = join(place, "node_modules");
    if (existsSync(packages)) {
      symlinkSync(packages, join(folder, "node_modules"));
      return;
    }
    if (place === dirname(place)) return;
  }
}
