/** Commands of the proof, each in a folder and with settings of npm that name one registry. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

const COMMAND_MS = 300_000;
const ANSWER_MS = 60_000;
const MASTER_KEY = "sk-a-master-key-of-this-proof";

/** Where commands run. */
export interface Place {
  /** Absolute. */
  readonly folder: string;
  /** A file of npm's settings. */
  readonly userConfig: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Makes an empty folder below another one. */
export function emptyFolder(parent: Place, name: string): Place {
  const folder = join(parent.folder, name);
  mkdirSync(folder, { recursive: true });
  return { ...parent, folder };
}

/** Writes a file in a folder, and the folders above it. */
export function write({ folder }: Place, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** Runs a command to its end. Rejects with its output when it fails or takes five minutes. */
export async function run(place: Place, command: string, ...args: string[]): Promise<string> {
  const child = start(place, command, args);
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (output += text));
  const timer = setTimeout(() => child.kill("SIGKILL"), COMMAND_MS);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  if (code !== 0)
    throw new Error(
      `${command} ${args.join(" ")} in ${place.folder} ended with ${code}:\n${output}`,
    );
  return output;
}

/** A gateway that a command started. */
export interface Served {
  /** The words of the reply to a prompt. Rejects when the reply is no completion. */
  ask(model: string, prompt: string): Promise<string>;
  /** The path of the public listener's answer, with its status. */
  get(path: string): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a gateway on free ports, and waits until it listens. */
export async function serve(place: Place, command: string, ...args: string[]): Promise<Served> {
  const child = start(
    {
      ...place,
      environment: {
        ...place.environment,
        SLUICE_PORT: "0",
        SLUICE_ADMIN_PORT: "0",
        SLUICE_MASTER_KEY: MASTER_KEY,
      },
    },
    command,
    args,
  );
  const url = await listening(child);
  const headers = { authorization: `Bearer ${MASTER_KEY}`, "content-type": "application/json" };
  return {
    async ask(model, prompt) {
      const reply = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers,
        body: JSON.stringify({ model, messages: [{ role: "user", content: prompt }] }),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      const text = await reply.text();
      if (!reply.ok) throw new Error(`${model} answered ${reply.status}: ${text}`);
      const body = JSON.parse(text) as {
        readonly choices: readonly { readonly message: { readonly content: string } }[];
      };
      return body.choices[0]?.message.content ?? "";
    },
    get: async (path) =>
      (await fetch(`${url}${path}`, { headers, signal: AbortSignal.timeout(ANSWER_MS) })).status,
    stop: () => stop(child),
  };
}

/** Starts a process in a group of its own, so that all of it can be ended. */
export function start(
  { folder, userConfig, environment }: Place,
  command: string,
  args: readonly string[],
): ChildProcess {
  return spawn(command, args, {
    cwd: folder,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...cleanEnvironment(), NPM_CONFIG_USERCONFIG: userConfig, ...environment },
  });
}

/** Ends a process and those that it started. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  process.kill(-child.pid, "SIGTERM");
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), ANSWER_MS);
  await ended;
  clearTimeout(timer);
}

/** Resolves with the match of the first line that fits, in standard output. */
export async function lineOf(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let output = "";
  const found = new Promise<RegExpExecArray>((resolve, reject) => {
    const look = (text: string): void => {
      output += text;
      const match = pattern.exec(output);
      if (match !== null) resolve(match);
    };
    child.stdout?.setEncoding("utf8").on("data", look);
    child.stderr?.setEncoding("utf8").on("data", look);
    child.once("exit", (code) => reject(new Error(`The process ended with ${code}:\n${output}`)));
    setTimeout(
      () => reject(new Error(`Nothing fits ${pattern} within ${ANSWER_MS} ms:\n${output}`)),
      ANSWER_MS,
    ).unref();
  });
  try {
    return await found;
  } catch (error) {
    await stop(child);
    throw error;
  }
}

async function listening(child: ChildProcess): Promise<string> {
  const [, url = ""] = await lineOf(child, /"public_url":"([^"]+)"/);
  return url;
}

/** The environment without what this script's own npm and Node put there. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|SLUICE_|NODE_OPTIONS$|INIT_CWD$)/i.test(name),
  );
  const path = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((part) => !part.includes("node_modules"));
  return {
    ...Object.fromEntries(kept),
    PATH: [dirname(process.execPath), ...path].join(delimiter),
  };
}
