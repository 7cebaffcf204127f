/** Spawning: forks a worker process and waits until it serves. */

import { errorMessage } from "@sluice/contract";
import type { StdioOptions } from "node:child_process";
import cluster, { type Worker } from "node:cluster";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { parseJson } from "@sluice/kit";
import type { WorkerAddress } from "./admin/ask-workers.ts";
import type { BlockReport } from "../telemetry/block-report.ts";
import type { SupervisorHost } from "./process-host.ts";
import {
  type Assignment,
  ASSIGNMENT_VARIABLE,
  type FromWorker,
  REPORT_FD,
  type ToWorker,
} from "./worker-messages.ts";

/** A worker that serves, or did. */
export interface Member extends WorkerAddress {
  readonly worker: Worker;
  readonly publicUrl: string;
  /** The longest time from the request to end until its end, in milliseconds. */
  readonly endsWithinMs: number;
  /** The silence after which it is replaced, in milliseconds; 0: never. */
  readonly hungTimeoutMs: number;
  /** A digest of the code that it runs. */
  readonly code: string;
}

/** Messages of a worker other than the result of its start. */
export type WorkerReport = Exclude<FromWorker, { readonly type: "ready" | "failed" }>;

/** The assignment of a worker and the handlers of its events. */
export interface SpawnOptions {
  readonly assignment: Assignment;
  /** Called at once with the process, before its first message. */
  onFork(worker: Worker): void;
  /** Called with the code that blocks the event loop of a silent process. */
  onBlock(worker: Worker, report: BlockReport): void;
  /** Called before the promise resolves. */
  onReady(member: Member): void;
  /** Called with every other message. */
  onMessage(worker: Worker, message: WorkerReport): void;
  /**
   * Called once, after the last message of the process: with its code or signal, or with the reason
   * why there was no process.
   */
  onEnd(worker: Worker, how: string): void;
}

const READY_TIMEOUT_MS = 60_000;
/** The time for which the channel of an ended process is still read. */
const LAST_WORDS_MS = 1_000;

/** The start of a worker failed. */
export class StartRefused extends Error {
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(reasons.join("\n"));
    this.reasons = reasons;
  }
}

/** The reasons of a failed start, one a line. */
export function refusalOf(error: unknown): readonly string[] {
  return error instanceof StartRefused ? error.reasons : [errorMessage(error)];
}

/** Sets what every worker process runs, and how it is connected to this one. */
export function prepareForks({ file, args }: SupervisorHost["worker"]): void {
  // Workers accept connections themselves. Passed on by this process, a connection that is on its
  // way to a killed worker would neither be served nor closed.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const stdio = ["inherit", "inherit", "inherit", "ipc", "pipe"] satisfies StdioOptions;
  cluster.setupPrimary({ exec: file, args: [...args], serialization: "advanced", stdio });
}

/** Starts one worker. Rejects when the worker fails to start, or the system gives no process. */
export function spawnWorker(options: SpawnOptions): Promise<Member> {
  return new Promise((resolve, reject) => {
    const worker = cluster.fork({ [ASSIGNMENT_VARIABLE]: JSON.stringify(options.assignment) });
    options.onFork(worker);
    let heldBy: string | undefined;
    readReports(worker, (report) => {
      heldBy =
        report.at === undefined ? undefined : `the plugin ${report.plugin}, at ${report.at},`;
      options.onBlock(worker, report);
    });
    const refuse = (reasons: readonly string[]): void => {
      clearTimeout(timer);
      reject(new StartRefused(reasons));
    };
    const timer = setTimeout(() => {
      worker.process.kill("SIGKILL");
      const reason = heldBy === undefined ? "" : `: ${heldBy} ran without a pause`;
      refuse([`The worker was not ready within ${READY_TIMEOUT_MS / 1_000} s${reason}.`]);
    }, READY_TIMEOUT_MS);
    worker.on("message", (message: FromWorker) => {
      if (message.type === "failed") refuse(message.reasons);
      else if (message.type !== "ready") options.onMessage(worker, message);
      else {
        clearTimeout(timer);
        const { type: _, ...address } = message;
        const { number } = options.assignment;
        const member = { number, pid: worker.process.pid ?? 0, ...address, worker };
        options.onReady(member);
        resolve(member);
      }
    });
    onceEnded(worker, (how) => {
      refuse([`The worker ended with ${how} before it was ready.`]);
      options.onEnd(worker, how);
    });
  });
}

/** Calls back once, after the last message of a process, or where there was no process. */
function onceEnded(worker: Worker, onEnd: (how: string) => void): void {
  let hasEnded = false;
  const end = (how: string): void => {
    if (hasEnded) return;
    hasEnded = true;
    onEnd(how);
  };
  worker.on("exit", (code, signal) => {
    const how = signal ?? `code ${code}`;
    if (!worker.isConnected()) end(how);
    else {
      // Its last messages may still be under way.
      worker.once("disconnect", () => end(how));
      setTimeout(end, LAST_WORDS_MS, how).unref();
    }
  });
  // Node also emits this for a signal that could not be sent. Then the process exists, and its exit
  // event follows.
  worker.on("error", (error: Error) => {
    if (worker.process.pid === undefined) end(`no process: ${error.message}`);
  });
}

/** The thread of a worker that watches its event loop writes here, because that loop is blocked. */
function readReports(worker: Worker, onReport: (report: BlockReport) => void): void {
  const stream = worker.process.stdio[REPORT_FD];
  if (!(stream instanceof Readable)) return;
  // It ends with the process, whose exit event follows.
  stream.on("error", () => undefined);
  createInterface({ input: stream }).on("line", (line) => {
    try {
      onReport(parseJson(line) as BlockReport);
    } catch {
      // The process was ended in the middle of it.
    }
  });
}

/** Sends a message to a worker. A disconnected worker gets none: its exit is reported by itself. */
export function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, undefined, {}, () => undefined);
}
