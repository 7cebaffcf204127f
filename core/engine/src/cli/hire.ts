/** Hiring: a worker process is forked, and awaited until it serves. */

import cluster, { type Worker } from "node:cluster";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { WorkerAddress } from "../http/admin/ask-workers.ts";
import type { BlockReport } from "../telemetry/block-report.ts";
import { type Assignment, ASSIGNMENT_VARIABLE, type FromWorker, REPORT_FD, type ToWorker } from "./worker-messages.ts";

/** A worker that serves, or did. */
export interface Member extends WorkerAddress {
  readonly worker: Worker;
  readonly publicUrl: string;
  /** How long it may serve and finish what is under way once it shall end. */
  readonly endsWithinMs: number;
  /** How long it may be silent before it is replaced; 0: for ever. */
  readonly hungTimeoutMs: number;
  /** A digest of the code that it runs. */
  readonly code: string;
}

/** What a worker says beside whether it came to serve. */
export type Told = Exclude<FromWorker, { readonly type: "ready" | "failed" }>;

/** Who is told what. */
export interface HireOptions {
  readonly assignment: Assignment;
  /** Told at once of the process, before anything comes from it. */
  onFork(worker: Worker): void;
  /** Told what code holds the event loop of a process that is silent. */
  onBlock(worker: Worker, report: BlockReport): void;
  /** Told of it before the promise resolves. */
  onReady(member: Member): void;
  /** Told of every other message. */
  onMessage(worker: Worker, message: Told): void;
  /** Told once, when nothing comes from the process any more: its code or signal, or why there was no process. */
  onEnd(worker: Worker, how: string): void;
}

const READY_TIMEOUT_MS = 60_000;
/** How long the channel of a process that has ended is read. */
const LAST_WORDS_MS = 1_000;

/** A worker that did not come to serve. */
export class StartRefused extends Error {
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(reasons.join("\n"));
    this.reasons = reasons;
  }
}

/** Why, in lines for people. */
export function refusalOf(error: unknown): readonly string[] {
  return error instanceof StartRefused ? error.reasons : [error instanceof Error ? error.message : String(error)];
}

/** Starts one worker. Rejects when it does not come to serve, or the system gives no process. */
export function hire({ assignment, onFork, onBlock, onReady, onMessage, onEnd }: HireOptions): Promise<Member> {
  return new Promise((resolve, reject) => {
    const worker = cluster.fork({ [ASSIGNMENT_VARIABLE]: JSON.stringify(assignment) });
    onFork(worker);
    let heldBy: string | undefined;
    readReports(worker, (report) => {
      heldBy = report.at;
      onBlock(worker, report);
    });
    let hasEnded = false;
    const refuse = (reasons: readonly string[]): void => {
      clearTimeout(timer);
      reject(new StartRefused(reasons));
    };
    const end = (how: string): void => {
      if (hasEnded) return;
      hasEnded = true;
      refuse([`The worker ended with ${how} before it was ready.`]);
      onEnd(worker, how);
    };
    const timer = setTimeout(() => {
      worker.process.kill("SIGKILL");
      const reason = heldBy === undefined ? "" : `: ${heldBy} ran without a pause`;
      refuse([`The worker was not ready within ${READY_TIMEOUT_MS / 1_000} s${reason}.`]);
    }, READY_TIMEOUT_MS);
    worker.on("message", (message: FromWorker) => {
      if (message.type === "ready") {
        clearTimeout(timer);
        const { publicUrl, adminUrl, endsWithinMs, hungTimeoutMs, code } = message;
        const { number } = assignment;
        const member = { number, pid: worker.process.pid ?? 0, publicUrl, adminUrl, endsWithinMs, hungTimeoutMs, code, worker };
        onReady(member);
        resolve(member);
      } else if (message.type === "failed") refuse(message.reasons);
      else onMessage(worker, message);
    });
    worker.on("exit", (code, signal) => {
      const how = signal ?? `code ${code}`;
      if (!worker.isConnected()) end(how);
      else {
        // What it said last is still on its way.
        worker.once("disconnect", () => end(how));
        setTimeout(end, LAST_WORDS_MS, how).unref();
      }
    });
    // Node says this too of a signal that could not be sent: then there is a process, and its end is told by itself.
    worker.on("error", (error: Error) => {
      if (worker.process.pid === undefined) end(`no process: ${error.message}`);
    });
  });
}

/** The thread of a worker that watches its event loop writes here, because that loop stands still. */
function readReports(worker: Worker, onReport: (report: BlockReport) => void): void {
  const stream = worker.process.stdio[REPORT_FD];
  if (!(stream instanceof Readable)) return;
  // It ends with the process, whose end is told by itself.
  stream.on("error", () => undefined);
  createInterface({ input: stream }).on("line", (line) => {
    try {
      onReport(JSON.parse(line) as BlockReport);
    } catch {
      // The process was ended in the middle of it.
    }
  });
}

/** Tells a worker. One on its way out hears nothing: its end is told by itself. */
export function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, undefined, {}, () => undefined);
}
