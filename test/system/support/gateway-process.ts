/** The real gateway as a process, started in a workspace and ended by its pid. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { holdAdminAnswers, releaseAdminAnswers } from "./listeners/admin-answers.ts";
import type { CommandProcess, ProcessEnd } from "./command-process.ts";
import { runShared } from "./commands/runner.ts";
import { eventually } from "./eventually.ts";
import { runInHost } from "./gateway-host.ts";
import { createWorkspace, type Workspace, type WorkspaceOptions } from "./workspace.ts";

const COMMAND = new URL("../../../core/cli/bin/sluice.js", import.meta.url).pathname;
const LISTENS = /Sluice listens on (\S+), for administration on ([^\s"]+)\.(?:"|$)/m;
const START_MS = 60_000;
const STOP_MS = 60_000;
/** A gateway that does not stop in this time at the end of a test is killed. */
const STOPPED_MS = 2_000;

/**
 * Node writes its compile cache when a process ends by itself, and each start without one takes
 * half a second more: the first gateway of a test process is asked to stop before it is killed.
 */
let hasWrittenCache = false;

export const MASTER_KEY = "sk-master-of-the-system-tests-0123456789";
/** The credential that the gateway holds for the upstream. No client may ever see it. */
export const UPSTREAM_KEY = "sk-upstream-credential-of-the-tests-9876543210";

/** A gateway that serves. */
export interface GatewayProcess extends CommandProcess {
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly masterKey: string;
  readonly configPath: string;
  readonly workspace: Workspace;
  /** SIGTERM, and the end. */
  stop(): Promise<ProcessEnd>;
  /** SIGKILL, and the end. */
  kill(): Promise<ProcessEnd>;
  /** Ends the process whatever it does, and removes its folder. A second call has no effect. */
  dispose(): Promise<void>;
}

/** Environment of a start, over that of the test. `undefined` removes a variable. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Runs `sluice` with arguments. It works in `cwd`. In the project `system` a command that ends by
 * itself runs in a process in which others have run, in their order.
 */
export function runCommand(
  args: readonly string[],
  cwd: string,
  environment: ProcessEnvironment = {},
): CommandProcess {
  if (sharesProcesses() && args[0] !== "serve")
    return runShared({ args, folder: cwd, environment: environmentOf(environment) });
  return spawnCommand(args, cwd, environment);
}

function spawnCommand(
  args: readonly string[],
  cwd: string,
  environment: ProcessEnvironment,
): CommandProcess {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    cwd,
    env: environmentOf(environment),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal }) as ProcessEnd);
  return {
    pid: child.pid ?? 0,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    ended,
    // By the child's own handle: a pid of an ended process may belong to another one by now.
    signal: (name) => void child.kill(name),
  };
}

/** Whether gateways may have a process in which others have stopped: see `vitest.config.ts`. */
const sharesProcesses = (): boolean => process.env["SLUICE_TEST_PROCESSES"] === "shared";

/**
 * Starts a gateway in a workspace, a new one unless it is given, and waits until it listens. In the
 * project `system` the process may have served other gateways, which have stopped.
 */
export function startGateway(
  place: Workspace | WorkspaceOptions = {},
  environment: ProcessEnvironment = {},
  logLevel = "warn",
  more: readonly string[] = [],
): Promise<GatewayProcess> {
  if (!sharesProcesses()) return startOwnProcess(place, environment, logLevel, more);
  return serve(place, environment, ["--log-level", logLevel, ...more], (args, folder) =>
    runInHost({ args, folder, environment: environmentOf(environment) }),
  );
}

/**
 * Starts a gateway in a new process that ends with it: for tests of the process, its workers or its
 * memory.
 */
export function startOwnProcess(
  place: Workspace | WorkspaceOptions = {},
  environment: ProcessEnvironment = {},
  logLevel = "warn",
  more: readonly string[] = [],
): Promise<GatewayProcess> {
  return serve(place, environment, ["--log-level", logLevel, ...more], (args, folder) =>
    runCommand(args, folder, environment),
  );
}

async function serve(
  place: Workspace | WorkspaceOptions,
  environment: ProcessEnvironment,
  options: readonly string[],
  run: (args: readonly string[], folder: string) => CommandProcess,
): Promise<GatewayProcess> {
  const workspace = "configPath" in place ? place : createWorkspace(place);
  const { configPath, folder } = workspace;
  const command = run(["serve", "--config", configPath, ...options], folder);
  try {
    const [, publicUrl = "", adminUrl = ""] = await listening(command);
    const masterKey = environment["SLUICE_MASTER_KEY"] ?? MASTER_KEY;
    return gatewayOf(command, { publicUrl, adminUrl, masterKey, configPath, workspace });
  } catch (error) {
    command.signal("SIGKILL");
    await command.ended;
    if (workspace !== place) workspace.remove();
    throw error;
  }
}

/** The match of the line with both addresses. */
function listening(command: CommandProcess): Promise<RegExpExecArray> {
  let end: ProcessEnd | undefined;
  void command.ended.then((outcome) => (end = outcome));
  return eventually(
    "the gateway to listen",
    () => {
      if (end !== undefined)
        throw new Error(`The gateway ended with ${JSON.stringify(end)}:\n${command.stderr}`);
      return LISTENS.exec(command.stdout) ?? undefined;
    },
    START_MS,
  );
}

type Place = Pick<
  GatewayProcess,
  "publicUrl" | "adminUrl" | "masterKey" | "configPath" | "workspace"
>;

function gatewayOf(command: CommandProcess, place: Place): GatewayProcess {
  // The routes of an extension answer in the form of another product.
  if (!readFileSync(place.configPath, "utf8").includes("compat-litellm"))
    holdAdminAnswers(place.adminUrl);
  void command.ended.then(() => releaseAdminAnswers(place.adminUrl));
  const kill = (): Promise<ProcessEnd> => {
    command.signal("SIGKILL");
    return command.ended;
  };
  return {
    ...place,
    get pid() {
      return command.pid;
    },
    get stdout() {
      return command.stdout;
    },
    get stderr() {
      return command.stderr;
    },
    ended: command.ended,
    signal: (name) => command.signal(name),
    async stop() {
      command.signal("SIGTERM");
      return Promise.race([command.ended, late(`the gateway did not stop:\n${command.stderr}`)]);
    },
    kill,
    async dispose() {
      if (sharesProcesses() || !hasWrittenCache) {
        hasWrittenCache = true;
        command.signal("SIGTERM");
        await Promise.race([command.ended, pause(STOPPED_MS, undefined, { ref: false })]);
      }
      await kill();
      place.workspace.remove();
    },
  };
}

function late(message: string): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(message)), STOP_MS).unref();
  });
}

/**
 * The environment of a command: the test's own, what every command of the tests has, and these
 * changes.
 */
export function environmentOf(changes: ProcessEnvironment): NodeJS.ProcessEnv {
  const merged = {
    ...process.env,
    SLUICE_MASTER_KEY: MASTER_KEY,
    SLUICE_PORT: "0",
    SLUICE_ADMIN_PORT: "0",
    SLUICE_HOST: undefined,
    OPENAI_API_KEY: UPSTREAM_KEY,
    ...changes,
  };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
}
