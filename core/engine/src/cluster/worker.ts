/** A worker: a whole gateway in a process of its own, controlled by the supervisor. */

import { errorMessage } from "@sluice/contract";
import { type RunningGateway, startProcess } from "../bootstrap.ts";
import { prepareStart, type StartOptions, type WorkerPlace } from "../prepare-start.ts";
import { formatFinding } from "../config/finding.ts";
import type { CanaryVerdict } from "../generation/rollout/canary.ts";
import type { Generation } from "../generation/generation.ts";
import type { RollbackNotice } from "../generation/rollout/state/model.ts";
import { createRemoteState } from "./shared-state-rpc.ts";
import { StartError } from "../resources/installation.ts";
import { withFields } from "../telemetry/log.ts";
import type { Running } from "./generation-agreement.ts";
import { codeDigest } from "../telemetry/version.ts";
import { fixedFault, fixedSettings } from "./fixed-settings.ts";
import { BEAT_MS } from "./heartbeat.ts";
import type { WorkerHost } from "./process-host.ts";
import { reasonsOf } from "../start-reasons.ts";
import { type Assignment, ASSIGNMENT_VARIABLE, type FromWorker, REPORT_FD, type ToWorker } from "./worker-messages.ts";

/** Starts and serves until the supervisor ends it. Never rejects: `host.exit` receives how it ended. */
export async function runWorker(given: StartOptions, host: WorkerHost): Promise<void> {
  const assignment = JSON.parse(process.env[ASSIGNMENT_VARIABLE] ?? "{}") as Assignment;
  const options = { ...given, log: withFields(given.log, { worker: assignment.number }) };
  const send = (message: FromWorker): void => {
    // The channel ends with the supervisor, and this process with the channel.
    if (process.connected) process.send?.(message, undefined, {}, () => undefined);
  };
  const hosted = createRemoteState(send);
  const code = codeDigest();
  let gateway: RunningGateway | undefined;
  let isListening = false;
  let wantsReload = false;
  // A stop ends a retirement that is under way.
  const end = (how: (running: RunningGateway) => Promise<void>): void => {
    if (gateway === undefined) {
      // Once it accepts connections the start is finished first: what ends a worker is sent again when it is ready.
      if (!isListening) host.exit({ kind: "stopped" });
      return;
    }
    how(gateway).then(
      () => host.exit({ kind: "stopped" }),
      (error: unknown) => host.exit({ kind: "failed", error }),
    );
  };
  process.on("message", (message: ToWorker) => {
    switch (message.type) {
      case "state":
        hosted.receive(message);
        return;
      case "reload":
        wantsReload = gateway === undefined;
        // The log has the result.
        gateway?.reload().catch(() => undefined);
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
        if (gateway !== undefined) void follow(gateway, message.target, send);
        return;
      case "roll-back":
        gateway?.rollBack(message.notice);
        return;
      case "forget":
        gateway?.forgetKeys();
        send({ type: "forgot", id: message.id });
        return;
      case "retire":
        end((running) => running.retire());
        return;
      case "stop":
        end((running) => running.stop());
        return;
      default:
        message satisfies never;
    }
  });
  send({ type: "hears" });
  try {
    const onVerdict = (verdict: CanaryVerdict): void => send({ type: "verdict", verdict });
    const onRollback = (notice: RollbackNotice): void => send({ type: "rolled-back", notice });
    const onServe = ({ number: generation, snapshot: { digest } }: Generation): void =>
      send({ type: "runs", generation, digest });
    const place = { number: assignment.number, reportFd: REPORT_FD, remoteState: hosted.driver, onServe, onVerdict, onRollback };
    const onListening = (): void => void (isListening = true);
    gateway = await startAs(assignment, { ...options, onListening }, place);
  } catch (error) {
    const reasons = reasonsOf(error);
    const exit = (): void => host.exit({ kind: "not-started", reasons });
    process.send?.({ type: "failed", reasons } satisfies FromWorker, undefined, {}, exit);
    return;
  }
  const { publicUrl, adminUrl, snapshot } = gateway;
  const { drainTimeoutMs, drainDelayMs, hungWorkerTimeoutMs: hungTimeoutMs } = snapshot.server;
  send({ type: "ready", publicUrl, adminUrl, endsWithinMs: drainDelayMs + drainTimeoutMs, hungTimeoutMs, code });
  setInterval(send, BEAT_MS, { type: "beat" } satisfies FromWorker);
  if (wantsReload) gateway.reload().catch(() => undefined);
}

async function startAs(assignment: Assignment, given: StartOptions, worker: WorkerPlace): Promise<RunningGateway> {
  const { mustBeNewest, othersRun, fixed } = assignment;
  const options = { ...given, mustBeNewest, othersRun, worker };
  const start = await prepareStart(options);
  const fault = fixedFault(fixed, fixedSettings(start.snapshot, start.definitions));
  if (fault !== undefined) throw new StartError(fault);
  return startProcess(options, start);
}

/** Runs the generation of another worker, or reports why it cannot. While an edit is under way it does nothing; the supervisor asks again. */
async function follow(gateway: RunningGateway, target: Running, send: (message: FromWorker) => void): Promise<void> {
  const refuse = (reasons: readonly string[]): void => send({ type: "not-followed", target, reasons });
  try {
    const result = await gateway.follow(target.generation, target.digest);
    if (result?.outcome === "refused") refuse(result.findings.map(formatFinding));
  } catch (error) {
    refuse([errorMessage(error)]);
  }
}
