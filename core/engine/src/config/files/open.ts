/** The first phase of loading: every file is read, parsed and its references resolved. Nothing is validated and no plugin is known yet. */

import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";

import { type KnownDocuments, type Path, readInPieces } from "./document.ts";
import { hasEndMark } from "./end-mark.ts";
import type { Finding } from "../finding.ts";
import { valueAtPath } from "./path.ts";
import { atOnce, type Pieces } from "./slices.ts";
import { resolveReferences, unresolvedFinding, type Environment, type ResolvedDocument } from "./references.ts";
import { engineKeys } from "../schema/plugin-options.ts";
import type { PluginReference, SnapshotFile } from "../snapshot.ts";
import { type ConfigSource, diskSource, fileFault } from "./source.ts";

/** Which configuration is opened, and with what. */
export interface OpenOptions {
  /** The gateway file, absolute or relative to `cwd`. */
  readonly path: string;
  /** The working directory: findings name files relative to it, `data_directory` is relative to it. */
  readonly cwd: string;
  readonly environment: Environment;
  /** Where the files come from; the disk unless it is given. */
  readonly source?: ConfigSource;
  /** What was parsed before; it takes what is parsed now. */
  readonly known?: KnownDocuments;
}

/** A configuration whose files were read. What is wrong with them so far is in `findings`. */
export interface OpenedConfig {
  /** The gateway file, absolute. */
  readonly path: string;
  readonly cwd: string;
  readonly environment: Environment;
  /** What `plugins:` names, for the registry. Empty when the gateway file cannot be read. */
  readonly plugins: readonly PluginReference[];
  readonly findings: readonly Finding[];
  readonly gateway: ResolvedDocument | undefined;
  readonly pipelines: readonly ResolvedDocument[];
  readonly prices: ResolvedDocument | undefined;
  /** Every file that was parsed. */
  readonly files: readonly SnapshotFile[];
  /** Absolute paths of every file of the configuration that is there, parsed or not. */
  readonly documents: readonly string[];
  /** Absolute paths of everything a change of which matters, whether it exists or not: files and the folder of pipelines. */
  readonly watched: readonly string[];
}

/** Reads a configuration. Does not throw for anything the files hold or lack: that becomes findings. */
export function openConfig(options: OpenOptions): OpenedConfig {
  return atOnce(openInPieces(options));
}

/** Reads a configuration in pieces. */
export function* openInPieces(options: OpenOptions): Pieces<OpenedConfig> {
  const { cwd, environment, source = diskSource, known } = options;
  const path = resolve(cwd, options.path);
  const home = dirname(path);
  const findings: Finding[] = [];
  const files: SnapshotFile[] = [];
  const documents: string[] = [];
  const watched = new Set<string>([path]);

  const open = function* (file: string): Pieces<ResolvedDocument | undefined> {
    yield;
    documents.push(file);
    const { document, findings: faults } = yield* readInPieces(file, nameOf(file, cwd), source, known);
    findings.push(...faults);
    if (document === undefined) return undefined;
    files.push({ path: file, digest: document.digest, hasEndMark: hasEndMark(document), end: document.end });
    const resolved = resolveReferences(document, environment, source);
    for (const reference of resolved.references) if (reference.file !== undefined) watched.add(reference.file);
    findings.push(...resolved.findings, ...unresolvedFindings(resolved, file === path));
    return resolved;
  };

  const gateway = yield* open(path);
  if (!source.has(path)) {
    const at = { file: nameOf(path, cwd), line: 1, column: 1 };
    const fix = "create it, or name another file with --config or SLUICE_CONFIG; ./gateway.yaml is found without";
    findings.splice(0, findings.length, { at, message: "the file cannot be read: there is no such file", fix });
  }
  const named = (key: string): string | undefined => {
    const value = valueAtPath(gateway?.value, [key]);
    return typeof value === "string" && value !== "" ? resolve(home, value) : undefined;
  };

  const pricesFile = named("prices") ?? join(home, "prices.yaml");
  watched.add(pricesFile);
  const hasPrices = source.has(pricesFile);
  const prices = hasPrices ? yield* open(pricesFile) : undefined;
  if (!hasPrices && named("prices") !== undefined && gateway !== undefined) {
    const at = gateway.document.valueAt(["prices"]);
    findings.push({ at, message: `there is no file ${nameOf(pricesFile, cwd)}`, fix: "create it, or remove `prices`" });
  }

  // A gateway file in a folder `config` has its pipelines beside that folder, any other file beside itself.
  const places = [resolve(home, "../pipelines"), join(home, "pipelines")] as const;
  const [usual, other] = basename(home) === "config" ? places : places.toReversed();
  const folder = named("pipelines") ?? [usual, other].find((place) => place !== undefined && source.has(place)) ?? usual ?? home;
  watched.add(folder);
  const listed = listPipelines(folder, source);
  for (const file of listed.files) watched.add(file);
  if (listed.fault !== undefined && gateway !== undefined) {
    const message = `the pipelines folder \`${nameOf(folder, cwd)}\` ${listed.fault}`;
    findings.push({
      at: gateway.document.valueAt(["pipelines"]),
      message,
      fix: "add a pipeline file there, or name another folder with `pipelines:`",
    });
  }
  const pipelines: ResolvedDocument[] = [];
  for (const file of listed.files) {
    const pipeline = yield* open(file);
    if (pipeline !== undefined) pipelines.push(pipeline);
  }

  return {
    path,
    cwd,
    environment,
    plugins: pluginsOf(gateway),
    findings,
    gateway,
    pipelines,
    prices,
    files,
    documents,
    watched: [...watched],
  };
}

/** The name of a file for people: relative to the working directory when it is below it. */
export function nameOf(file: string, cwd: string): string {
  const name = relative(cwd, file);
  return name === "" || name.startsWith("..") || isAbsolute(name) ? file : name;
}

/** Unresolved references are findings, but for the options of a provider: without its credential it is unavailable. */
function unresolvedFindings(resolved: ResolvedDocument, isGateway: boolean): Finding[] {
  return resolved.references
    .filter((reference) => reference.value === undefined && !(isGateway && isProviderOption(reference.path)))
    .map((reference) => unresolvedFinding(resolved.document, reference));
}

function isProviderOption(path: Path): boolean {
  return path[0] === "providers" && path.length > 2 && !engineKeys("provider").includes(String(path[2]));
}

function listPipelines(
  folder: string,
  source: ConfigSource,
): { readonly files: readonly string[]; readonly fault: string | undefined } {
  try {
    const names = source.list(folder).filter((name) => /^[^.].*\.ya?ml$/.test(name));
    const files = names.sort().map((name) => join(folder, name));
    return { files, fault: files.length === 0 ? "holds no *.yaml file" : undefined };
  } catch (error) {
    return { files: [], fault: `cannot be read: ${fileFault(error)}` };
  }
}

function pluginsOf(gateway: ResolvedDocument | undefined): PluginReference[] {
  const listed = valueAtPath(gateway?.value, ["plugins"]);
  if (gateway === undefined || !Array.isArray(listed)) return [];
  return listed.flatMap((specifier: unknown, index) =>
    typeof specifier === "string" && specifier !== "" ? [{ specifier, at: gateway.document.valueAt(["plugins", index]) }] : [],
  );
}
