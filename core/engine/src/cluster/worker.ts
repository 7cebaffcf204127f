/** A worker: a whole gateway in a process of its own, controlled by the supervisor. */

import { errorMessage } from "@sluice/contract";
import { parseJson } from "@sluice/kit";
import { type RunningGateway, startProcess } from "../bootstrap.ts";
import { prepareStart, type StartOptions, type WorkerPlace } from "../prepare-start.ts";
import { formatFinding } from "../config/finding.ts";
import { createRemoteState } from "./shared-state-rpc.ts";
import { StartError } from "../resources/installation.ts";
import { withFields } from "../telemetry/log.ts";
import type { Running } from "./generation-agreement.ts";
import { codeDigest } from "../telemetry/version.ts";
import { fixedFault, fixedSettings } from "./fixed-settings.ts";
import { BEAT_MS } from "./heartbeat.ts";
import type { WorkerHost } from "./process-host.ts";
import { reasonsOf } from "../start-reasons.ts";
import {
  type Assignment,
  ASSIGNMENT_VARIABLE,
  type FromWorker,
  REPORT_FD,
  type ToWorker,
} from "./worker-messages.ts";

/**
 * Starts and serves until the supervisor ends it. Never rejects: `host.exit` receives how it ended.
 */
export async function runWorker(given: StartOptions, host: WorkerHost): Promise<void> {
  const assignment = parseJson(process.env[ASSIGNMENT_VARIABLE] ?? "{}") as Assignment;
  const worker = new WorkerProcess(host);
  process.on("message", (message: ToWorker) => worker.receive(message));
  send({ type: "hears" });
  const log = withFields(given.log, { worker: assignment.number });
  try {
    worker.serve(
      await startAs(
        assignment,
        { ...given, log, onListening: () => worker.listens() },
        worker.place(assignment),
      ),
    );
  } catch (error) {
    const reasons = reasonsOf(error);
    const exit = (): void => host.exit({ kind: "not-started", reasons });
    process.send?.({ type: "failed", reasons } satisfies FromWorker, undefined, {}, exit);
  }
}

/**
 * Sends a message to the supervisor. The channel ends with the supervisor, and this process with
 * the channel.
 */
function send(message: FromWorker): void {
  if (process.connected) process.send?.(message, undefined, {}, () => undefined);
}

/**
 * `starting`: it may be ended at once. `listening`: the start is finished first, and the supervisor
 * repeats what ends it.
 */
type Phase =
  | { readonly name: "starting" | "listening" }
  | { readonly name: "serving"; readonly gateway: RunningGateway };

/** The process of a worker, from its first message to its end. */
class WorkerProcess {
  readonly #host: WorkerHost;
  readonly #state = createRemoteState(send);
  readonly #code = codeDigest();
  #phase: Phase = { name: "starting" };
  /** Set when a reload was asked for before the gateway served. */
  #wantsReload = false;

  constructor(host: WorkerHost) {
    this.#host = host;
  }

  /** The place of this process among the workers. */
  place({ number }: Assignment): WorkerPlace {
    return {
      number,
      reportFd: REPORT_FD,
      remoteState: this.#state.driver,
      onServe: ({ number: generation, snapshot: { digest } }) =>
        send({ type: "runs", generation, digest }),
      onVerdict: (verdict) => send({ type: "verdict", verdict }),
      onRollback: (notice) => send({ type: "rolled-back", notice }),
    };
  }

  /** The gateway accepts connections. */
  listens(): void {
    this.#phase = { name: "listening" };
  }

  /** The gateway serves: the supervisor may give it work. */
  serve(gateway: RunningGateway): void {
    this.#phase = { name: "serving", gateway };
    const { publicUrl, adminUrl, snapshot } = gateway;
    const { drainTimeoutMs, shutdownDelayMs, hungWorkerTimeoutMs: hungTimeoutMs } = snapshot.server;
    const endsWithinMs = shutdownDelayMs + drainTimeoutMs;
    send({ type: "ready", publicUrl, adminUrl, endsWithinMs, hungTimeoutMs, code: this.#code });
    setInterval(send, BEAT_MS, { type: "beat" } satisfies FromWorker);
    if (this.#wantsReload) reload(gateway);
  }

  receive(message: ToWorker): void {
    const gateway = this.#phase.name === "serving" ? this.#phase.gateway : undefined;
    switch (message.type) {
      case "state":
        this.#state.receive(message);
        return;
      case "reload":
        if (gateway === undefined) this.#wantsReload = true;
        else reload(gateway);
        return;
      case "adopt": {
        const { outbox } = message;
        void gateway?.adopt(outbox).then(() => send({ type: "adopted", outbox }));
        return;
      }
      case "end-canary":
        gateway?.countVotes(message.digest, message.end, message.reason);
        return;
      case "follow":
        if (gateway !== undefined) void follow(gateway, message.target);
        return;
      case "roll-back":
        gateway?.rollBack(message.notice);
        return;
      case "forget":
        void Promise.resolve(gateway?.forgetKeys()).then(() =>
          send({ type: "forgot", id: message.id }),
        );
        return;
      case "retire":
        this.#end((running) => running.retire());
        return;
      case "stop":
        // A stop also ends a retirement that is under way.
        this.#end((running) => running.stop());
        return;
      default:
        message satisfies never;
    }
  }

  #end(how: (gateway: RunningGateway) => Promise<void>): void {
    if (this.#phase.name === "starting") this.#host.exit({ kind: "stopped" });
    if (this.#phase.name !== "serving") return;
    how(this.#phase.gateway).then(
      () => this.#host.exit({ kind: "stopped" }),
      (error: unknown) => this.#host.exit({ kind: "failed", error }),
    );
  }
}

/** Reads the configuration again. The log has the result. */
function reload(gateway: RunningGateway): void {
  gateway.reload().catch(() => undefined);
}

async function startAs(
  assignment: Assignment,
  given: StartOptions,
  worker: WorkerPlace,
): Promise<RunningGateway> {
  const { mustBeNewest, othersRun, fixed } = assignment;
  const options = { ...given, mustBeNewest, othersRun, worker };
  const start = await prepareStart(options);
  const fault = fixedFault(fixed, fixedSettings(start.snapshot, start.definitions));
  if (fault !== undefined) throw new StartError(fault);
  return startProcess(options, start);
}

/**
 * Runs the generation of another worker, or reports why it cannot. While an edit is under way it
 * does nothing; the supervisor asks again.
 */
async function follow(gateway: RunningGateway, target: Running): Promise<void> {
  const refuse = (reasons: readonly string[]): void =>
    send({ type: "not-followed", target, reasons });
  try {
    const result = await gateway.follow(target.generation, target.digest);
    if (result?.outcome === "refused") refuse(result.findings.map(formatFinding));
  } catch (error) {
    refuse([errorMessage(error)]);
  }
}
