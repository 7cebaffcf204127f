/**
 * The first phase of loading: every file is read, parsed and its references resolved. Nothing is
 * validated and no plugin is known yet.
 */

import { dirname, isAbsolute, join, relative, resolve } from "node:path";

import { type ConfigDocument, type KnownDocuments, type Path, readInPieces } from "./document.ts";
import { hasEndMark } from "./end-mark.ts";
import type { Finding } from "../finding.ts";
import { findPlugins, FOUND } from "./found-plugins.ts";
import { valueAtPath } from "./path.ts";
import { isInstalled, pipelineFiles } from "./pipeline-files.ts";
import { atOnce, type Pieces } from "./slices.ts";
import {
  resolveReferences,
  unresolvedFinding,
  type Environment,
  type ResolvedDocument,
} from "./references.ts";
import { engineKeys } from "../schema/plugin-options.ts";
import type { PluginReference, SnapshotFile } from "../snapshot.ts";
import { type ConfigSource, diskSource, heldSource } from "./source.ts";
import { joinParts, misplaced, namesStore } from "./stored/own-sections.ts";
import { EMPTY_FILES, placeFiles, storedName } from "./stored/stored-files.ts";
import { forbiddenReferences } from "./stored/stored-rules.ts";

/** The place of a configuration, and the parts that its reading needs. */
export interface OpenOptions {
  /** The gateway file, absolute or relative to `cwd`. */
  readonly path: string;
  /**
   * The working directory: findings name files relative to it, `data_directory` is relative to it.
   */
  readonly cwd: string;
  readonly environment: Environment;
  /** Where plugins are looked up, as from a gateway file there. Default: the gateway file. */
  readonly pluginsFrom?: string;
  /** The source of the files. Default: the disk. */
  readonly source?: ConfigSource;
  /**
   * The source has the files of a configuration in the store, and the gateway file on disk the
   * sections of this machine. Without a source the gateway file decides.
   */
  readonly isStored?: boolean;
  /** Documents that were parsed before. This reading adds its own. */
  readonly known?: KnownDocuments;
}

/** A configuration whose files were read. `findings` are those of this phase. */
export interface OpenedConfig {
  /** The gateway file, absolute. */
  readonly path: string;
  readonly cwd: string;
  readonly environment: Environment;
  /**
   * The packages that `plugins:` names, or, without it, those that are found. Empty when the
   * gateway file cannot be read.
   */
  readonly plugins: readonly PluginReference[];
  readonly findings: readonly Finding[];
  readonly gateway: ResolvedDocument | undefined;
  readonly pipelines: readonly ResolvedDocument[];
  readonly prices: ResolvedDocument | undefined;
  /** The gateway file on disk, where the rest of the configuration is in the store. */
  readonly own: ResolvedDocument | undefined;
  /** The configuration is in the store, which was not asked: what it says is not known. */
  readonly isElsewhere: boolean;
  /** Every file that was parsed, but for shipped pipelines: an installation has those. */
  readonly files: readonly SnapshotFile[];
  /**
   * Absolute paths of every existing file of the configuration, parsed or not, but for shipped
   * pipelines.
   */
  readonly documents: readonly string[];
  /**
   * Absolute paths of the files and folders to watch for changes, including those that do not
   * exist.
   */
  readonly watched: readonly string[];
}

/**
 * Reads a configuration. Does not throw for anything the files hold or lack: that becomes findings.
 */
export function openConfig(options: OpenOptions): OpenedConfig {
  return atOnce(openInPieces(options));
}

/** Reads a configuration in pieces. */
export function* openInPieces(options: OpenOptions): Pieces<OpenedConfig> {
  const { cwd, environment } = options;
  const path = resolve(cwd, options.path);
  const opening = new Opening(path, options);
  const gateway = yield* opening.gateway();
  const prices = yield* opening.prices(gateway);
  const pipelines = yield* opening.pipelines(gateway);
  const { findings, files, documents, own, isElsewhere } = opening;
  const watched = [...opening.watched];
  return {
    path,
    cwd,
    environment,
    plugins: pluginsOf(gateway, options.pluginsFrom ?? path),
    findings,
    gateway,
    pipelines,
    prices,
    own,
    isElsewhere,
    files,
    documents,
    watched,
  };
}

/** One reading of a configuration: the gateway file first, then the files that it names. */
class Opening {
  readonly findings: Finding[] = [];
  readonly files: SnapshotFile[] = [];
  readonly documents: string[] = [];
  readonly watched: Set<string>;
  own: ResolvedDocument | undefined;
  isElsewhere = false;
  readonly #path: string;
  /** The folder of the gateway file. */
  readonly #home: string;
  readonly #options: OpenOptions;
  #source: ConfigSource;

  constructor(path: string, options: OpenOptions) {
    this.watched = new Set([path]);
    this.#path = path;
    this.#home = dirname(path);
    this.#options = options;
    this.#source = options.source ?? diskSource;
  }

  *gateway(): Pieces<ResolvedDocument | undefined> {
    const { source, isStored = false } = this.#options;
    if (isStored) return yield* this.#parts();
    const gateway = yield* this.#open(this.#path);
    if (source === undefined && gateway !== undefined && namesStore(gateway.document)) {
      // The store is not asked here: what its configuration says is not known.
      this.#source = heldSource(placeFiles(this.#path, EMPTY_FILES));
      this.isElsewhere = true;
      for (const list of [this.findings, this.files, this.documents]) list.length = 0;
      return yield* this.#parts();
    }
    if (!this.#source.has(this.#path)) {
      const at = { file: this.#nameOf(this.#path), line: 1, column: 1 };
      const fix =
        "write one with `sluice init`, or name another file with --config or SLUICE_CONFIG";
      this.findings.splice(0, this.findings.length, {
        at,
        message: "the file cannot be read: there is no such file",
        fix,
      });
    }
    return gateway;
  }

  /** The sections of this machine, and those of the store. */
  *#parts(): Pieces<ResolvedDocument | undefined> {
    const name = nameOf(this.#path, this.#options.cwd);
    const { document, findings } = yield* readInPieces(this.#path, name, diskSource);
    this.findings.push(...findings);
    if (document === undefined) return undefined;
    const own = this.#resolve(document);
    this.own = own;
    const stored = yield* this.#open(this.#path);
    this.findings.push(...misplaced(document, stored?.document));
    return stored && joinParts(own, stored);
  }

  *prices(gateway: ResolvedDocument | undefined): Pieces<ResolvedDocument | undefined> {
    const named = this.#named(gateway, "prices");
    const file = named ?? join(this.#home, "prices.yaml");
    this.watched.add(file);
    if (this.#source.has(file)) return yield* this.#open(file);
    if (named !== undefined && gateway !== undefined) {
      const at = gateway.document.valueAt(["prices"]);
      this.findings.push({
        at,
        message: `there is no file ${this.#nameOf(file)}`,
        fix: "create it, or remove `prices`",
      });
    }
    return undefined;
  }

  *pipelines(gateway: ResolvedDocument | undefined): Pieces<readonly ResolvedDocument[]> {
    const named = valueAtPath(gateway?.value, ["pipelines"]);
    const { files, folders, faults } = pipelineFiles(named, this.#home, this.#source);
    for (const path of folders) this.watched.add(path);
    if (gateway !== undefined) {
      const at = gateway.document.valueAt(["pipelines"]);
      const fix = "add a pipeline file there, or name another folder with `pipelines:`";
      for (const { folder, fault } of faults) {
        const message = `the pipelines folder \`${this.#nameOf(folder)}\` ${fault}`;
        this.findings.push({ at, message, fix });
      }
    }
    const pipelines: ResolvedDocument[] = [];
    for (const file of files) {
      const isOwn = !isInstalled(file, folders);
      if (isOwn) this.watched.add(file);
      const pipeline = yield* this.#open(file, isOwn);
      if (pipeline !== undefined) pipelines.push(pipeline);
    }
    return pipelines;
  }

  *#open(file: string, isOwn = true): Pieces<ResolvedDocument | undefined> {
    yield;
    const { known } = this.#options;
    if (isOwn) this.documents.push(file);
    const { document, findings } = yield* readInPieces(
      file,
      this.#nameOf(file),
      this.#source,
      known,
    );
    this.findings.push(...findings);
    if (document === undefined) return undefined;
    if (isOwn)
      this.files.push({
        path: file,
        digest: document.digest,
        hasEndMark: hasEndMark(document),
        end: document.end,
      });
    const resolved = this.#resolve(document);
    if (this.own !== undefined && isOwn)
      this.findings.push(...forbiddenReferences(resolved, this.own, this.#home));
    return resolved;
  }

  #resolve(document: ConfigDocument): ResolvedDocument {
    const resolved = resolveReferences(document, this.#options.environment, this.#source);
    for (const reference of resolved.references)
      if (reference.file !== undefined) this.watched.add(reference.file);
    const isGateway = document.path === this.#path;
    this.findings.push(...resolved.findings, ...unresolvedFindings(resolved, isGateway));
    return resolved;
  }

  /** The path that a key of the gateway file gives. */
  #named(gateway: ResolvedDocument | undefined, key: "prices"): string | undefined {
    const value = valueAtPath(gateway?.value, [key]);
    return typeof value === "string" && value !== "" ? resolve(this.#home, value) : undefined;
  }

  #nameOf(file: string): string {
    const isStored = this.own !== undefined && this.#source.has(file);
    return isStored ? storedName(this.#path, file) : nameOf(file, this.#options.cwd);
  }
}

/** The name of a file for people: relative to the working directory when it is below it. */
export function nameOf(file: string, cwd: string): string {
  const name = relative(cwd, file);
  return name === "" || name.startsWith("..") || isAbsolute(name) ? file : name;
}

/**
 * The unresolved references, except those in a provider's options: a provider without its
 * credential is unavailable.
 */
function unresolvedFindings(resolved: ResolvedDocument, isGateway: boolean): Finding[] {
  return resolved.references
    .filter(
      (reference) =>
        reference.value === undefined && !(isGateway && isProviderOption(reference.path)),
    )
    .map((reference) => unresolvedFinding(resolved.document, reference));
}

function isProviderOption(path: Path): boolean {
  return (
    path[0] === "providers" && path.length > 2 && !engineKeys("provider").includes(String(path[2]))
  );
}

/**
 * The packages of the list; `*` in it, and a file without a list, stand for those that are found.
 */
function pluginsOf(gateway: ResolvedDocument | undefined, from: string): PluginReference[] {
  if (gateway === undefined) return [];
  const listed = valueAtPath(gateway.value, ["plugins"]) ?? [FOUND];
  if (!Array.isArray(listed)) return [];
  return listed.flatMap((specifier: unknown, index): PluginReference[] => {
    if (typeof specifier !== "string" || specifier === "") return [];
    const at = gateway.document.valueAt(["plugins", index]);
    if (specifier !== FOUND) return [{ specifier, from, at }];
    return findPlugins(from)
      .filter((plugin) => !listed.some((other) => isNamed(other, plugin.specifier)))
      .map((plugin) => ({ ...plugin, at, isFound: true }));
  });
}

/** Whether an entry of the list names a package, with a range or without. */
function isNamed(entry: unknown, name: string): boolean {
  return typeof entry === "string" && (entry === name || entry.startsWith(`${name}@`));
}
