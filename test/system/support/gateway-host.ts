/**
 * Processes that serve one gateway after the other. The first gateway of a process loads all
 * modules, which takes a second of CPU and more; the next ones take a third of it. Each gateway is
 * `sluice serve` with its own arguments, folder, environment and signals.
 */

import { type ChildProcess, fork } from "node:child_process";
import {
  type CommandProcess,
  type CommandStart,
  END_OF_GATEWAY,
  type ProcessEnd,
} from "./command-process.ts";

const COMMAND = new URL("../../../core/cli/bin/sluice.js", import.meta.url).pathname;
const LOOP = new URL("gateway-loop.ts", import.meta.url).href;

/** Processes whose gateway has stopped. */
const idle = new Set<GatewayHost>();

/** Runs `sluice serve` in a process that has served before, or in a new one. */
export function runInHost(start: CommandStart): CommandProcess {
  const [host] = idle;
  if (host === undefined) return new GatewayHost(start).current;
  idle.delete(host);
  return host.next(start);
}

class GatewayHost {
  readonly #child: ChildProcess;
  #current: HostedCommand;

  constructor({ args, folder, environment }: CommandStart) {
    this.#child = fork(COMMAND, args, {
      cwd: folder,
      env: environment,
      execArgv: ["--import", LOOP],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#current = new HostedCommand(this.#child);
    for (const name of ["stdout", "stderr"] as const)
      this.#child[name]?.setEncoding("utf8").on("data", (text: string) => this.#take(name, text));
    this.#child.once("close", (code, signal) => {
      idle.delete(this);
      this.#current.end({ code, signal });
    });
  }

  get current(): CommandProcess {
    return this.#current;
  }

  /** Starts the next gateway. */
  next(start: CommandStart): CommandProcess {
    this.#current = new HostedCommand(this.#child);
    this.#child.send(start);
    return this.#current;
  }

  #take(name: "stdout" | "stderr", text: string): void {
    const command = this.#current;
    command[name] += text;
    if (!command.stdout.includes(END_OF_GATEWAY) || !command.stderr.includes(END_OF_GATEWAY))
      return;
    command.end({ code: 0, signal: null });
    idle.add(this);
  }
}

class HostedCommand implements CommandProcess {
  readonly #child: ChildProcess;
  readonly #ended = Promise.withResolvers<ProcessEnd>();
  #isOver = false;
  stdout = "";
  stderr = "";

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get ended(): Promise<ProcessEnd> {
    return this.#ended.promise;
  }

  signal(name: NodeJS.Signals): void {
    // The process may serve another gateway by now.
    if (!this.#isOver) this.#child.kill(name);
  }

  end(end: ProcessEnd): void {
    this.#isOver = true;
    this.stdout = this.stdout.replace(END_OF_GATEWAY, "");
    this.stderr = this.stderr.replace(END_OF_GATEWAY, "");
    this.#ended.resolve(end);
  }
}
