/** The load, in its own process: a fixed number of requests over a fixed number of connections, told by messages. */

import { openConnection, type Connection } from "./connection.ts";
import type { FromLoad, GoMessage, PrepareMessage, ToLoad } from "./messages.ts";
import { percentile } from "./statistics.ts";

let connections: Connection[] = [];
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
  const bytes = Buffer.from(request);
  const opening = Array.from({ length: concurrency }, () => openConnection(port, bytes, (error) => fault(error.message)));
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

function countReads(): number {
  return connections.reduce((sum, { reads }) => sum + reads, 0);
}

function close(): void {
  fault = () => undefined;
  for (const connection of connections) connection.close();
  connections = [];
}
