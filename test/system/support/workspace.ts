/**
 * A temporary installation: a folder with a gateway file, copies of the shipped pipelines, and room
 * for data.
 */

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SHIPPED = new URL("../../../", import.meta.url).pathname;

const POSTGRES = "@sluice/store-postgres@^1.0.0";

/** What a gateway file says. Every string is a piece of YAML. */
export interface WorkspaceOptions {
  /** `base_url` of the provider `openai`. */
  readonly baseUrl?: string;
  /** Further members of `providers.openai`. */
  readonly provider?: string;
  /** Further members of `server`. */
  readonly server?: string;
  /** Further providers, each as `name: { … }`. */
  readonly providers?: readonly string[];
  /**
   * Further members of `store`, or nothing: the store is PostgreSQL at `DATABASE_URL`. Absent:
   * SQLite in the data folder.
   */
  readonly postgres?: string;
  /** Further packages, beside those of the shipped file. */
  readonly plugins?: readonly string[];
  /** Further sections, each with its lines. */
  readonly sections?: readonly string[];
  /** All models, each as `{ id: …, targets: … }`. Default: `DEFAULT_MODELS`. */
  readonly models?: readonly string[];
  /** Calls of the same target, of the step `retry` in every pipeline. Default: as shipped. */
  readonly attempts?: number;
  /** Options of the step `balance` in every pipeline that has it. Default: none, as shipped. */
  readonly balance?: string;
}

/**
 * Options of `balance` for tests that make a model's only target fail again and again, and look at
 * each failure.
 */
export const NEVER_EJECTS = "{ breaker: { eject_single: false } }";

/** A folder that a gateway is started in. */
export interface Workspace {
  readonly folder: string;
  readonly configPath: string;
  readonly pipelinesFolder: string;
  readonly dataDirectory: string;
  /** The gateway file that these options make. */
  config(options: WorkspaceOptions): string;
  /**
   * Writes the gateway file: a new file renamed over the old one, or the old one written over in
   * place.
   */
  write(text: string, how?: "rename" | "in place"): void;
  remove(): void;
}

export const DEFAULT_MODELS: readonly string[] = [
  "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
  "{ id: gpt-4o, targets: [{ provider: openai, model: gpt-4o }], access_groups: [large] }",
  '{ id: "openai/*", targets: [{ provider: openai, model: "*" }] }',
  "{ id: echo, targets: [{ provider: echo, model: echo }] }",
];

/** Makes a workspace with the gateway file of `options`. */
export function createWorkspace(options: WorkspaceOptions = {}): Workspace {
  const folder = mkdtempSync(join(tmpdir(), "sluice-system-"));
  const configPath = join(folder, "config", "gateway.yaml");
  const pipelinesFolder = join(folder, "pipelines");
  const dataDirectory = join(folder, "data");
  mkdirSync(join(folder, "config"));
  cpSync(join(SHIPPED, "config/prices.yaml"), join(folder, "config/prices.yaml"));
  cpSync(join(SHIPPED, "pipelines"), pipelinesFolder, { recursive: true });
  if (options.attempts !== undefined) setAttempts(pipelinesFolder, options.attempts);
  if (options.balance !== undefined) setBalance(pipelinesFolder, options.balance);
  const workspace: Workspace = {
    folder,
    configPath,
    pipelinesFolder,
    dataDirectory,
    config: (changed) => gatewayFile(dataDirectory, changed),
    write(text, how = "rename") {
      const path = how === "rename" ? `${configPath}.new` : configPath;
      writeFileSync(path, text);
      if (how === "rename") renameSync(path, configPath);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  workspace.write(workspace.config(options));
  return workspace;
}

function setAttempts(folder: string, attempts: number): void {
  replaceInPipelines(
    folder,
    /^( +- )retry\b.*$/m,
    `$1{ use: retry, with: { attempts: ${attempts} } }`,
  );
}

function setBalance(folder: string, options: string): void {
  replaceInPipelines(folder, /^( +- )balance\b.*$/m, `$1{ use: balance, with: ${options} }`);
}

function replaceInPipelines(folder: string, line: RegExp, by: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    writeFileSync(path, readFileSync(path, "utf8").replace(line, by));
  }
}

function gatewayFile(dataDirectory: string, options: WorkspaceOptions): string {
  const {
    baseUrl = "http://127.0.0.1:9/v1",
    provider,
    server,
    providers = [],
    postgres,
    plugins = [],
    sections = [],
    models = DEFAULT_MODELS,
  } = options;
  const more = (members: string | undefined): string =>
    members === undefined || members === "" ? "" : `, ${members}`;
  const store =
    postgres === undefined
      ? `use: sqlite, path: ${join(dataDirectory, "sluice.db")}`
      : `use: postgres, url: "\${env:DATABASE_URL}"${more(postgres)}`;
  const packages = postgres === undefined ? plugins : [POSTGRES, ...plugins];
  return `version: 1
server: { data_directory: ${dataDirectory}${more(server)} }
store: { ${store} }
${shippedPlugins()}
${packages.map((name) => `  - "${name}"\n`).join("")}${sections.map((text) => `${text}\n`).join("")}providers:
  openai: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${baseUrl}${more(provider)} }
  echo: { use: echo }
${providers.map((line) => `  ${line}\n`).join("")}models:
${models.map((line) => `  - ${line}\n`).join("")}`;
}

/**
 * The section `plugins:` of the shipped gateway file: the shipped pipelines need those, whatever
 * they are.
 */
function shippedPlugins(): string {
  const [section] =
    /^plugins:\n(?: +- .*\n)+/m.exec(readFileSync(join(SHIPPED, "config/gateway.yaml"), "utf8")) ??
    [];
  if (section === undefined) throw new Error("config/gateway.yaml has no section plugins.");
  return section.trimEnd();
}
