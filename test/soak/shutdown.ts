/**
 * A stop under load: 200 requests a second and 50 streams, through a client that goes by
 * `/health/ready` as a load balancer does, and SIGTERM in the middle. The script prints refused
 * connections, failures, cut streams and the exit code, and ends with status 1 beyond a goal.
 */

import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { createUpstream } from "@sluice/testing";
import { MESSAGES } from "../system/support/client.ts";
import { MASTER_KEY, startOwnProcess } from "../system/support/gateway-process.ts";

const PER_SECOND = 200;
const STREAMS = 50;
const BEFORE_MS = 3_000;
/** Two health checks, and what this machine may be late. */
const SHUTDOWN_DELAY = "3s";
const HEALTH_EVERY_MS = 500;
const STREAM_EVENTS = 40;
const EVENT_MS = 200;

const upstream = await createUpstream();
upstream.script(({ parsed }) =>
  parsed?.["stream"] === true
    ? { kind: "reply", text: "word ".repeat(STREAM_EVENTS), eventDelayMs: EVENT_MS }
    : { kind: "reply", text: "an answer" },
);
const workers = Number(process.env["SLUICE_PROOF_WORKERS"] ?? 1);
const gateway = await startOwnProcess({
  baseUrl: upstream.baseUrl,
  server: `workers: ${workers}, shutdown_delay: ${SHUTDOWN_DELAY}, drain_timeout: 60s`,
});
const { hostname, port } = new URL(gateway.publicUrl);
const agent = new Agent({ keepAlive: true });

interface Sent {
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly isWhole: boolean;
}

function send(body: object | undefined, path: string): Promise<Sent> {
  return new Promise((resolve) => {
    const message = request(
      {
        hostname,
        port,
        path,
        agent,
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${MASTER_KEY}`, "content-type": "application/json" },
      },
      (response) => {
        let text = "";
        const end = (error: string | undefined): void =>
          resolve({
            status: response.statusCode,
            error,
            isWhole: response.complete && (!isStream(body) || text.endsWith("data: [DONE]\n\n")),
          });
        response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
        response.on("end", () => end(undefined));
        response.on("error", (error) => end(error.message));
      },
    );
    message.on("error", (error: NodeJS.ErrnoException) =>
      resolve({ status: undefined, error: error.code ?? error.message, isWhole: false }),
    );
    message.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const isStream = (body: object | undefined): boolean => body !== undefined && "stream" in body;
const chat = { model: "gpt-4o-mini", messages: MESSAGES };

/** Health checks in succession that fail before the load balancer sends no more requests. */
const FAILED_CHECKS = 2;
/** Aborted when the load balancer sends no more requests to this gateway. */
const out = new AbortController();
const ended = new AbortController();
const health = (async () => {
  let failed = 0;
  while (!ended.signal.aborted) {
    const { status } = await send(undefined, "/health/ready");
    failed = status === 200 ? 0 : failed + 1;
    if (failed === FAILED_CHECKS) out.abort();
    await pause(HEALTH_EVERY_MS);
  }
})();

const streams = Array.from({ length: STREAMS }, () =>
  send({ ...chat, stream: true }, "/v1/chat/completions"),
);
const requests: Promise<Sent>[] = [];
const startedMs = performance.now();
let afterSignal = 0;
let signalledMs: number | undefined;
while (!out.signal.aborted) {
  const elapsedMs = performance.now() - startedMs;
  while (requests.length < (elapsedMs / 1_000) * PER_SECOND) {
    requests.push(send(chat, "/v1/chat/completions"));
    if (signalledMs !== undefined) afterSignal += 1;
  }
  if (signalledMs === undefined && elapsedMs > BEFORE_MS) {
    signalledMs = performance.now();
    gateway.signal("SIGTERM");
  }
  await pause(5);
}
const outMs = performance.now() - (signalledMs ?? 0);
const answers = await Promise.all(requests);
const replies = await Promise.all(streams);
ended.abort();
const end = await gateway.ended;
await health;
agent.destroy();
await upstream.close();
gateway.workspace.remove();

const figures = {
  workers,
  requests: answers.length,
  after_the_signal: afterSignal,
  out_of_the_load_balancer_after_ms: Math.round(outMs),
  refused: answers.filter(({ error }) => error === "ECONNREFUSED").length,
  failed: answers.filter(({ status, isWhole }) => status !== 200 || !isWhole).length,
  streams: replies.length,
  cut_streams: replies.filter(({ status, isWhole }) => status !== 200 || !isWhole).length,
  exit_code: end.code,
  stopped_after_ms: Math.round(performance.now() - (signalledMs ?? 0)),
};
console.log(JSON.stringify(figures, null, 2));
const isGood =
  figures.failed === 0 && figures.cut_streams === 0 && figures.exit_code === 0 && afterSignal > 0;
if (!isGood) process.exitCode = 1;
