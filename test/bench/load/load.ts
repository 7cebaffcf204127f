/**
 * The load, in its own process: a fixed number of requests over a fixed number of connections,
 * controlled by messages.
 */

import { openConnection, type Connection } from "./connection.ts";
import type { FromLoad, GoMessage, PrepareMessage, ToLoad } from "../messages.ts";
import { pacedLoad } from "./paced.ts";
import { KEY_NUMBER, PROMPT_NUMBER } from "../scenarios.ts";
import { percentile } from "../statistics.ts";

/** A prime: successive requests have keys that lie far from each other. */
const KEY_STEP = 999_983;

let connections: Connection[] = [];
let lastNumber = 0;
let fault: (message: string) => void = () => undefined;

const say = (message: FromLoad) => process.send?.(message);

process.on("message", (message: ToLoad) => {
  const work =
    message.kind === "prepare"
      ? prepare(message)
      : message.kind === "go"
        ? go(message)
        : pacedLoad(connections, message).finally(close);
  work.then(say, (error: unknown) => {
    close();
    say({ kind: "fault", message: String(error) });
  });
});
process.on("disconnect", () => process.exit());

async function prepare(message: PrepareMessage): Promise<FromLoad> {
  const { port, concurrency, request, usedKeys } = message;
  const promptAt = request.indexOf(PROMPT_NUMBER);
  const keyAt = request.indexOf(KEY_NUMBER);
  const opening = Array.from({ length: concurrency }, () => {
    const bytes = Buffer.from(request);
    return openConnection(
      port,
      () => {
        lastNumber += 1;
        if (promptAt >= 0) writeNumber(bytes, promptAt, lastNumber);
        if (keyAt >= 0) writeNumber(bytes, keyAt, (lastNumber * KEY_STEP) % usedKeys);
        return bytes;
      },
      (error) => fault(error.message),
    );
  });
  connections = await Promise.all(opening);
  connections[0]?.record();
  await new Promise<void>((resolve, reject) => {
    let open = connections.length;
    fault = (message) => reject(new Error(message));
    for (const connection of connections) connection.exchange(() => (open -= 1) === 0 && resolve());
  });
  return { kind: "ready", sample: connections[0]?.recorded ?? "" };
}

async function go({ count }: GoMessage): Promise<FromLoad> {
  const latencies = new Float64Array(count);
  let sent = 0;
  let received = 0;
  let failed = 0;
  const readsBefore = countReads();
  const started = performance.now();
  await new Promise<void>((resolve, reject) => {
    fault = (message) => reject(new Error(message));
    const next = (connection: Connection) => {
      if (sent === count) return;
      sent += 1;
      const begun = performance.now();
      connection.exchange((ok) => {
        latencies[received] = performance.now() - begun;
        received += 1;
        if (!ok) failed += 1;
        if (received === count) resolve();
        else next(connection);
      });
    };
    for (const connection of connections) next(connection);
  });
  const elapsedMs = performance.now() - started;
  const reads = countReads() - readsBefore;
  close();
  latencies.sort();
  return {
    kind: "slice",
    count,
    failed,
    elapsedMs,
    reads,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

/** Writes a number into a request. Its connection has sent the one before. */
function writeNumber(bytes: Buffer, at: number, number: number): void {
  bytes.write(String(number).padStart(PROMPT_NUMBER.length, "0"), at, "latin1");
}

function countReads(): number {
  return connections.reduce((sum, { reads }) => sum + reads, 0);
}

function close(): void {
  fault = () => undefined;
  for (const connection of connections) connection.close();
  connections = [];
}
