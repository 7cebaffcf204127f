/** The real gateway as a process of its own, started in a workspace and ended by its pid. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "./eventually.ts";
import { createWorkspace, type Workspace, type WorkspaceOptions } from "./workspace.ts";

const COMMAND = new URL("../../../core/cli/bin/sluice.js", import.meta.url).pathname;
const LISTENS = /Sluice listens on (\S+), for administration on ([^\s"]+)\.(?:"|$)/m;
const START_MS = 60_000;
const STOP_MS = 20_000;
const CACHE_MS = 2_000;

/**
 * Node writes its compile cache when a process ends by itself, and each start without one takes
 * half a second more: the first gateway of a test process is asked to stop before it is killed.
 */
let hasWrittenCache = false;

export const MASTER_KEY = "sk-master-of-the-system-tests-0123456789";
/** The credential that the gateway holds for the upstream. No client may ever see it. */
export const UPSTREAM_KEY = "sk-upstream-credential-of-the-tests-9876543210";

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A `sluice` command that runs or has run. */
export interface CommandProcess {
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly ended: Promise<ProcessEnd>;
  signal(name: NodeJS.Signals): void;
}

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

/** Runs `sluice` with arguments. It works in `cwd`. */
export function runCommand(
  args: readonly string[],
  cwd: string,
  environment: ProcessEnvironment = {},
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

/** Starts a gateway in a workspace, a new one unless it is given, and waits until it listens. */
export async function startGateway(
  place: Workspace | WorkspaceOptions = {},
  environment: ProcessEnvironment = {},
  logLevel = "warn",
  more: readonly string[] = [],
): Promise<GatewayProcess> {
  const workspace = "configPath" in place ? place : createWorkspace(place);
  const { configPath, folder } = workspace;
  const command = runCommand(
    ["serve", "--config", configPath, "--log-level", logLevel, ...more],
    folder,
    environment,
  );
  let end: ProcessEnd | undefined;
  void command.ended.then((outcome) => (end = outcome));
  const kill = async (): Promise<ProcessEnd> => {
    command.signal("SIGKILL");
    return command.ended;
  };
  let match: RegExpExecArray | null;
  try {
    match = await eventually(
      "the gateway to listen",
      () => {
        if (end !== undefined)
          throw new Error(`The gateway ended with ${JSON.stringify(end)}:\n${command.stderr}`);
        return LISTENS.exec(command.stdout) ?? undefined;
      },
      START_MS,
    );
  } catch (error) {
    await kill();
    if (workspace !== place) workspace.remove();
    throw error;
  }
  const [, publicUrl = "", adminUrl = ""] = match;
  return Object.defineProperties(
    {
      publicUrl,
      adminUrl,
      masterKey: environment["SLUICE_MASTER_KEY"] ?? MASTER_KEY,
      configPath,
      workspace,
      async stop() {
        command.signal("SIGTERM");
        return Promise.race([command.ended, late(`the gateway did not stop:\n${command.stderr}`)]);
      },
      kill,
      async dispose() {
        if (!hasWrittenCache) {
          hasWrittenCache = true;
          command.signal("SIGTERM");
          await Promise.race([command.ended, pause(CACHE_MS, undefined, { ref: false })]);
        }
        await kill();
        workspace.remove();
      },
    },
    Object.getOwnPropertyDescriptors(command),
  ) as GatewayProcess;
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
