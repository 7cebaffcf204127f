/** A worker: today's whole gateway in a process of its own, led by the one that supervises. */

import { type RunningGateway, startGateway, type StartOptions } from "../bootstrap.ts";
import { createHostedState } from "../resources/hosted-state.ts";
import { EXIT } from "./exit.ts";
import { reasonsOf } from "./start-reasons.ts";
import { type FromWorker, NEWEST_VARIABLE, type ToWorker, WORKER_VARIABLE } from "./worker-messages.ts";

/** Starts and serves. A terminal signals a whole group of processes: what a signal means is the supervisor's to say. */
export async function runWorker(options: StartOptions): Promise<void> {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2"] as const) process.on(signal, () => undefined);
  const send = (message: FromWorker): void => {
    // The channel ends with the supervisor, and this process with the channel.
    if (process.connected) process.send?.(message, undefined, {}, () => undefined);
  };
  const hosted = createHostedState(send);
  let gateway: RunningGateway | undefined;
  // A stop ends a retirement that is under way.
  const end = (how: (running: RunningGateway) => Promise<void>): void => {
    if (gateway === undefined) return;
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
        // The log says how it went.
        gateway?.reload().catch(() => undefined);
        return;
      case "adopt": {
        const { outbox } = message;
        void gateway?.adopt(outbox).then(() => send({ type: "adopted", outbox }));
        return;
      }
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
  try {
    const number = Number(process.env[WORKER_VARIABLE]);
    const mustBeNewest = process.env[NEWEST_VARIABLE] === "1";
    gateway = await startGateway({ ...options, mustBeNewest, worker: { number, hostedState: hosted.driver } });
  } catch (error) {
    const reasons = reasonsOf(error);
    for (const line of reasons) console.error(line);
    process.send?.({ type: "failed", reasons } satisfies FromWorker, undefined, {}, () => process.exit(EXIT.notStarted));
    return;
  }
  send({ type: "ready", publicUrl: gateway.publicUrl, adminUrl: gateway.adminUrl });
}
