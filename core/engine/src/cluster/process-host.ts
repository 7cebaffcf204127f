/**
 * The parts that the program provides to a cluster: the library neither ends its process nor
 * listens to signals.
 */

/** The reaction to a signal, once the gateway can be stopped. */
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
  /** The module of a worker process, which calls `runWorker`. */
  readonly worker: { readonly file: string; readonly args: readonly string[] };
  /** Receives the handlers as soon as a worker may exist. */
  handle(handlers: ProcessHandlers): void;
  /** Whether a stop was signalled. */
  readonly isStopping: boolean;
}

/**
 * The end of a worker: `stopped` after a stop or a retirement, `failed` when that threw,
 * `not-started` with lines for the operator.
 */
export type WorkerEnd =
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "not-started"; readonly reasons: readonly string[] };

/** The program that runs a worker. */
export interface WorkerHost {
  /** Ends the process. */
  exit(end: WorkerEnd): void;
}
