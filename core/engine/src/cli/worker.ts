/** A worker: today's whole gateway in a process of its own, led by the one that supervises. */

import { type RunningGateway, startGateway } from "../bootstrap.ts";
import { prepareStart, type StartOptions, type WorkerPlace } from "../prepare-start.ts";
import { formatFinding } from "../config/finding.ts";
import type { CanaryVerdict } from "../generation/canary.ts";
import type { Generation } from "../generation/generation.ts";
import type { WentBack } from "../generation/going-back.ts";
import { createHostedState } from "../resources/hosted-state.ts";
import { StartError } from "../resources/installation.ts";
import { withFields } from "../telemetry/log.ts";
import type { Running } from "./agreement.ts";
import { codeDigest } from "../telemetry/version.ts";
import { EXIT } from "./exit.ts";
import { fixedFault, fixedSettings } from "./fixed-settings.ts";
import { BEAT_MS } from "./pulse.ts";
import { reasonsOf } from "./start-reasons.ts";
import { type Assignment, ASSIGNMENT_VARIABLE, type FromWorker, REPORT_FD, type ToWorker } from "./worker-messages.ts";

/** Starts and serves. A terminal signals a whole group of processes: what a signal means is the supervisor's to say. */
export async function runWorker(given: StartOptions): Promise<void> {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2"] as const) process.on(signal, () => undefined);
  const assignment = JSON.parse(process.env[ASSIGNMENT_VARIABLE] ?? "{}") as Assignment;
  const options = { ...given, log: withFields(given.log, { worker: assignment.number }) };
  const send = (message: FromWorker): void => {
    // The channel ends with the supervisor, and this process with the channel.
    if (process.connected) process.send?.(message, undefined, {}, () => undefined);
  };
  const hosted = createHostedState(send);
  const code = codeDigest();
  let gateway: RunningGateway | undefined;
  let isListening = false;
  let wantsReload = false;
  // A stop ends a retirement that is under way.
  const end = (how: (running: RunningGateway) => Promise<void>): void => {
    if (gateway === undefined) {
      // Once it accepts connections the start is finished first: what ends a worker is sent again when it is ready.
      if (!isListening) process.exit(EXIT.done);
      return;
    }
    how(gateway).then(
      () => process.exit(EXIT.done),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on("message", (message: ToWorker) => {
    switch (message.type) {
      case "state":
        hosted.receive(message);
        return;
      case "reload":
        wantsReload = gateway === undefined;
        // The log says how it went.
        gateway?.reload().catch(() => undefined);
        return;
      case "adopt": {
        const { outbox } = message;
        void gateway?.adopt(outbox).then(() => send({ type: "adopted", outbox }));
        return;
      }
      case "end-canary":
        gateway?.endCanary(message.digest, message.end, message.reason);
        return;
      case "follow":
        if (gateway !== undefined) void follow(gateway, message.target, send);
        return;
      case "go-back":
        gateway?.goBack(message.wentBack);
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
    const onWentBack = (wentBack: WentBack): void => send({ type: "went-back", wentBack });
    const onServe = ({ number: generation, snapshot: { digest } }: Generation): void =>
      send({ type: "runs", generation, digest });
    const place = { number: assignment.number, reportFd: REPORT_FD, hostedState: hosted.driver, onServe, onVerdict, onWentBack };
    const onListening = (): void => void (isListening = true);
    gateway = await startAs(assignment, { ...options, onListening }, place);
  } catch (error) {
    const reasons = reasonsOf(error);
    for (const line of reasons) console.error(line);
    process.send?.({ type: "failed", reasons } satisfies FromWorker, undefined, {}, () => process.exit(EXIT.notStarted));
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
  return startGateway(options, start);
}

/** Runs what another worker runs, or says why it cannot. An edit that is on its way makes another try necessary. */
async function follow(gateway: RunningGateway, target: Running, send: (message: FromWorker) => void): Promise<void> {
  const refuse = (reasons: readonly string[]): void => send({ type: "not-followed", target, reasons });
  try {
    const result = await gateway.follow(target.generation, target.digest);
    if (result?.outcome === "refused") refuse(result.findings.map(formatFinding));
  } catch (error) {
    refuse([error instanceof Error ? error.message : String(error)]);
  }
}
