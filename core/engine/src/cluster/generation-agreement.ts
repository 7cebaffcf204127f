/**
 * The agreement of workers: all of them run one generation. A worker that runs another one has to
 * follow the newest.
 */

import type { Worker } from "node:cluster";
import type { Log } from "@sluice/contract";

/** The generation of a worker. */
export interface Running {
  readonly generation: number;
  readonly digest: string;
}

/** The parts of the supervisor that the agreement needs. */
export interface AgreementOptions {
  readonly log: Log;
  /** The workers that take requests. */
  readonly serving: () => readonly Worker[];
  /** Tells a worker to run what another runs, or to read the files again. */
  readonly send: (
    worker: Worker,
    message: { readonly type: "follow"; readonly target: Running } | { readonly type: "reload" },
  ) => void;
  /** Whether workers are being replaced: they differ until that has ended. */
  readonly isPaused: () => boolean;
  readonly settleMs?: number;
}

/** The usual time in which an edit reaches every worker: each reads the files by itself. */
const SETTLE_MS = 1_500;

/**
 * Maximum attempts. Then the workers differ until one of them changes, and the status reports it.
 */
const MAX_TRIES = 5;

/** The generations of the workers. */
export class GenerationAgreement {
  readonly #options: AgreementOptions;
  readonly #runs = new Map<Worker, Running>();
  readonly #refusals = new Map<Worker, string>();
  #newest: Running | undefined;
  #timer: NodeJS.Timeout | undefined;
  #tries = 0;

  constructor(options: AgreementOptions) {
    this.#options = options;
  }

  /** The agreed generation, or the newest one. A replacement worker starts with it. */
  get newest(): Running | undefined {
    return this.#newest;
  }

  /** Why a worker does not run the newest, for a person. */
  whyNot(worker: Worker): string | undefined {
    return this.#refusals.get(worker);
  }

  /** Takes what a worker runs from now on. */
  runs(worker: Worker, running: Running): void {
    this.#runs.delete(worker);
    this.#runs.set(worker, running);
    this.#refusals.delete(worker);
    this.#tries = 0;
    this.look();
  }

  /** Takes the reason why a worker cannot run the generation it was sent. */
  refused(worker: Worker, { generation }: Running, reasons: readonly string[]): void {
    const why = `generation ${generation} is refused there: ${reasons.join("; ")}`;
    if (this.#refusals.get(worker) === why) return;
    this.#refusals.set(worker, why);
    this.#options.log.error("a worker cannot run the generation that the others run", {
      pid: worker.process.pid,
      generation,
      reasons,
    });
  }

  forget(worker: Worker): void {
    this.#runs.delete(worker);
    this.#refusals.delete(worker);
    this.look();
  }

  /** Checks that all workers agree. `isSoon`: a worker has begun to serve, so none is awaited. */
  look(isSoon = false): void {
    const dissenters = this.#dissenters();
    if (isSoon) clearTimeout(this.#timer);
    if (dissenters.length === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#tries = 0;
      return;
    }
    if (isSoon) this.#act();
    else
      this.#timer ??= setTimeout(
        () => this.#act(),
        (this.#options.settleMs ?? SETTLE_MS) * 2 ** this.#tries,
      );
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#tries = MAX_TRIES;
  }

  #act(): void {
    this.#timer = undefined;
    const target = this.#newest;
    const dissenters = this.#dissenters();
    if (target === undefined || dissenters.length === 0) return;
    if (!this.#options.isPaused()) {
      if (this.#tries >= MAX_TRIES) {
        this.#options.log.error("workers run different generations", {
          newest: target.generation,
          others: dissenters.map((worker) => ({
            pid: worker.process.pid,
            ...this.#runs.get(worker),
          })),
        });
        return;
      }
      this.#tries++;
      // Two that made a generation at the same moment may have given one number to different
      // contents: the files decide.
      const isTwice = dissenters.some(
        (worker) => this.#runs.get(worker)?.generation === target.generation,
      );
      if (isTwice)
        for (const worker of this.#options.serving())
          this.#options.send(worker, { type: "reload" });
      else for (const worker of dissenters) this.#options.send(worker, { type: "follow", target });
    }
    this.#timer = setTimeout(
      () => this.#act(),
      (this.#options.settleMs ?? SETTLE_MS) * 2 ** this.#tries,
    );
  }

  /** The workers that do not run the newest generation of those that run. */
  #dissenters(): readonly Worker[] {
    const serving = new Set(this.#options.serving());
    let newest: Running | undefined;
    for (const [worker, running] of this.#runs) {
      // With equal numbers, the last report counts.
      if (serving.has(worker) && running.generation >= (newest?.generation ?? 0)) newest = running;
    }
    if (newest === undefined) return [];
    this.#newest = newest;
    return [...serving].filter((worker) => {
      const running = this.#runs.get(worker);
      return (
        running !== undefined &&
        (running.generation !== newest.generation || running.digest !== newest.digest)
      );
    });
  }
}
