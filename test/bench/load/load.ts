/**
 * The load, in its own process: a fixed number of requests over a fixed number of connections,
 * controlled by messages.
 */

import { openConnection, type Connection } from "./connection.ts";
import type { FromLoad, GoMessage, PrepareMessage, ToLoad } from "../messages.ts";
import { PROMPT_NUMBER } from "../scenarios.ts";
import { percentile } from "../statistics.ts";

let connections: Connection[] = [];
let lastNumber = 0;
let fault: (message: string) => void = () => undefined;

const say = (message: FromLoad) => process.send?.(message);

process.on("message", (message: ToLoad) => {
  const work = message.kind === "prepare" ? prepare(message) : go(message);
  work.then(say, (error: unknown) => {
    close();
    say({ kind: "fault", message: String(error) });
  });
});
process.on("disconnect", () => process.exit());

async function prepare({ port, concurrency, request }: PrepareMessage): Promise<FromLoad> {
  const numberAt = request.indexOf(PROMPT_NUMBER);
  const opening = Array.from({ length: concurrency }, () => {
    const bytes = Buffer.from(request);
    return openConnection(
      port,
      () => (numberAt < 0 ? bytes : numbered(bytes, numberAt)),
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

/**
 * The request with the next number in its prompt. Its connection has sent the one before: the bytes
 * are written over.
 */
function numbered(bytes: Buffer, at: number): Buffer {
  lastNumber += 1;
  bytes.write(String(lastNumber).padStart(PROMPT_NUMBER.length, "0"), at, "latin1");
  return bytes;
}

function countReads(): number {
  return connections.reduce((sum, { reads }) => sum + reads, 0);
}

function close(): void {
  fault = () => undefined;
  for (const connection of connections) connection.close();
  connections = [];
}
