/** What the processes of a cluster need of the program that starts them: the library ends no process and follows no signal. */

/** What a signal leads to, once there is something to stop. */
export interface ProcessHandlers {
  /** Finishes what is under way. The process may end when it resolves. */
  stop(): Promise<void>;
  /** Ends without waiting; the process ends after it. */
  kill?(): void;
  reload(): void;
  restart(): void;
}

/** The program that runs the supervisor. */
export interface SupervisorHost {
  /** What a worker process runs; the program calls `runWorker` there. */
  readonly worker: { readonly file: string; readonly args: readonly string[] };
  /** Receives the handlers as soon as a worker may exist. */
  handle(handlers: ProcessHandlers): void;
  /** Whether a stop was signalled. */
  readonly isStopping: boolean;
}

/** How a worker ended: `stopped` after a stop or a retirement, `failed` when that threw, `not-started` with lines for people. */
export type WorkerEnd =
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "not-started"; readonly reasons: readonly string[] };

/** The program that runs a worker. */
export interface WorkerHost {
  /** Ends the process. */
  exit(end: WorkerEnd): void;
}
