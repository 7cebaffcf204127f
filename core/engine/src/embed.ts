/**
 * A gateway inside of a program: it ends no process, follows no signal, reads no environment and
 * writes nothing to the console.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnyDefinition, Log } from "@sluice/contract";
import { startProcess } from "./bootstrap.ts";
import type { ApplyResult } from "./generation/rollout/apply.ts";
import type { gatewaySchema } from "./config/schema/gateway.ts";
import type { pipelineSchema } from "./config/schema/pipeline.ts";
import type { Written } from "./config/schema/from-schema.ts";
import { prepareStart } from "./prepare-start.ts";
import { createLog } from "./telemetry/log.ts";

/** The contents of a gateway file. */
export type GatewayConfig = Omit<Written<typeof gatewaySchema>, "pipelines">;

/** The contents of a pipeline file. */
export type PipelineConfig = Written<typeof pipelineSchema>;

/** A configuration as values: what `gateway.yaml` and the files of `pipelines/` say. */
export interface ConfigObject {
  readonly gateway: GatewayConfig;
  /**
   * The contents of each pipeline file by its name without `.yaml`. Default: the shipped pipelines.
   */
  readonly pipelines?: Readonly<Record<string, PipelineConfig>>;
}

/** What an embedded gateway starts with. */
export interface EmbedOptions {
  /** The path of the gateway file, or the configuration as values. */
  readonly config: string | ConfigObject;
  /**
   * Plugins of the program: what the define functions of `@sluice/kit` return. They are loaded
   * beside those that the configuration names, which needs no entry for them.
   */
  readonly plugins?: readonly AnyDefinition[];
  /**
   * Relative paths of the configuration, its data folder too, begin here. Default: the working
   * directory of the process.
   */
  readonly cwd?: string;
  /**
   * Variables that the configuration refers to, and `SLUICE_*`. Default: none; a program that wants
   * its own passes `process.env`.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Default: none is written. `createLog("info")` writes JSON lines to standard error. */
  readonly log?: Log;
}

/** A gateway that serves. */
export interface EmbeddedGateway {
  /** Without a slash at the end: `http://127.0.0.1:4000`. */
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly masterKey: string;
  /**
   * Reads the configuration again and applies it. A path is also watched: a saved edit applies
   * without this call.
   */
  reload(): Promise<ApplyResult>;
  /**
   * Refuses new requests, waits for those under way up to `drainTimeoutMs` (default:
   * `server.drain_timeout`), writes the rows and closes both listeners and every file. Later calls
   * return the first one's promise.
   */
  close(drainTimeoutMs?: number): Promise<void>;
}

/**
 * Starts a gateway in this process: one worker, whatever `server.workers` says. Resolves when both
 * listeners accept connections. Throws a ConfigError with findings, or a StartError with one line.
 */
export async function startGateway(options: EmbedOptions): Promise<EmbeddedGateway> {
  const { config, plugins: ownPlugins = [], cwd = process.cwd() } = options;
  const { environment = {}, log = createLog("silent") } = options;
  const files =
    typeof config === "string"
      ? { path: config, remove: () => undefined }
      : { ...writeFiles(config), pluginsFrom: join(cwd, "gateway.yaml") };
  try {
    const { remove: _remove, ...paths } = files;
    const place = { ...paths, cwd, environment, log, ownPlugins };
    const running = await startProcess(place, await prepareStart(place));
    let closed: Promise<void> | undefined;
    return {
      publicUrl: running.publicUrl,
      adminUrl: running.adminUrl,
      masterKey: running.installation.masterKey,
      reload: () => running.reload(),
      close: (drainTimeoutMs) => (closed ??= running.stop(drainTimeoutMs).finally(files.remove)),
    };
  } catch (error) {
    files.remove();
    throw error;
  }
}

/** Writes a configuration to a folder that only this user can read: JSON is YAML. */
function writeFiles({ gateway, pipelines = {} }: ConfigObject): {
  readonly path: string;
  remove(): void;
} {
  const folder = mkdtempSync(join(tmpdir(), "sluice-config-"));
  const path = join(folder, "gateway.yaml");
  writeFileSync(path, JSON.stringify(gateway, null, 2));
  if (Object.keys(pipelines).length > 0) mkdirSync(join(folder, "pipelines"));
  for (const [name, pipeline] of Object.entries(pipelines)) {
    writeFileSync(join(folder, "pipelines", `${name}.yaml`), JSON.stringify(pipeline, null, 2));
  }
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
