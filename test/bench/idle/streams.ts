/**
 * The memory of open streams: an upstream sends the first event of each and then nothing, as a
 * model does that thinks.
 */

import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type ClientRequest, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MODEL } from "../scenarios.ts";
import { freePort, type Launch, type Target } from "../target.ts";
import { floor } from "../targets/floor.ts";
import { sluiceTargets } from "../targets/sluice.ts";
import { PROBED, started } from "./start.ts";

const SETTLE_MS = 5_000;
/** Opened at once. */
const BATCH = 50;
const FIRST_EVENT = `data: ${JSON.stringify({
  id: "chatcmpl-Bench",
  object: "chat.completion.chunk",
  created: 1_741_569_952,
  model: MODEL,
  choices: [{ index: 0, delta: { role: "assistant", content: "The" }, finish_reason: null }],
})}\n\n`;

/** What open streams have made of a server's memory, in kilobytes for each of them. */
export interface StreamMemory {
  /** What is in use after a full collection. */
  readonly heldKb: number;
  /** Resident memory, with what the load has made the young generation. */
  readonly residentKb: number;
}

/** Prepares a server that opens so many connections to its upstream. */
export type Prepare = (
  context: Parameters<Target["prepare"]>[0],
  connections: number,
) => Promise<Launch>;

/** The bare Koa and undici proxy. */
export const prepareFloor: Prepare = async (context, connections) => {
  const launch = launchOf(await floor.prepare(context));
  return { ...launch, args: [...launch.args, "--connections", String(connections)] };
};

/** The gateway of a checkout, with its shipped pipelines. */
export const prepareGateway =
  (root: string): Prepare =>
  async (context, connections) => {
    const launch = launchOf(await sluiceTargets({ root, suffix: "" })[0]?.prepare(context));
    const config = join(context.directory, "gateway.yaml");
    // A key has half of a provider's connections at most.
    writeFileSync(
      config,
      readFileSync(config, "utf8").replace(
        "use: openai,",
        `use: openai, connections: ${2 * connections},`,
      ),
    );
    return { ...launch, args: [...launch.args, "--log-level", "silent"] };
  };

function launchOf(launch: Awaited<ReturnType<Target["prepare"]>> | undefined): Launch {
  if (launch === undefined || "skip" in launch) throw new Error("The server cannot be started.");
  return launch;
}

/** The memory of each of so many open streams, after as many were opened and closed. */
export async function memoryPerStream(prepare: Prepare, streams: number): Promise<StreamMemory> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-streams-"));
  const upstream = createServer((asked, reply) => {
    asked.resume();
    reply.writeHead(200, { "content-type": "text/event-stream" });
    reply.write(FIRST_EVENT);
  });
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  try {
    const { port: upstreamPort } = upstream.address() as AddressInfo;
    return await measured(prepare, directory, `http://127.0.0.1:${upstreamPort}`, streams);
  } finally {
    upstream.closeAllConnections();
    upstream.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measured(
  prepare: Prepare,
  directory: string,
  upstreamUrl: string,
  streams: number,
): Promise<StreamMemory> {
  const port = await freePort();
  const context = { directory, port, upstreamUrl, nodeFlags: PROBED };
  const launch = await prepare(context, 2 * streams);
  const server = await started(launch.args, directory, {
    ...launch.env,
  });
  try {
    const open = () => openStreams(port, launch.headers ?? {}, streams);
    for (const stream of await open()) stream.destroy();
    const before = {
      residentMb: await server.residentAfter(SETTLE_MS),
      heldMb: await server.heldMb(),
    };
    const streaming = await open();
    const after = {
      residentMb: await server.residentAfter(SETTLE_MS),
      heldMb: await server.heldMb(),
    };
    for (const stream of streaming) stream.destroy();
    const perStreamKb = (megabytes: number): number => (megabytes * 1_024) / streams;
    return {
      heldKb: perStreamKb(after.heldMb - before.heldMb),
      residentKb: perStreamKb(after.residentMb - before.residentMb),
    };
  } finally {
    await server.stop();
  }
}

async function openStreams(
  port: number,
  headers: Readonly<Record<string, string>>,
  streams: number,
): Promise<ClientRequest[]> {
  const agent = new Agent({ maxSockets: streams });
  const opened: ClientRequest[] = [];
  while (opened.length < streams) {
    const batch = Math.min(BATCH, streams - opened.length);
    opened.push(
      ...(await Promise.all(Array.from({ length: batch }, () => openStream(port, headers, agent)))),
    );
  }
  return opened;
}

/** Resolves when the first event has come. */
async function openStream(
  port: number,
  headers: Readonly<Record<string, string>>,
  agent: Agent,
): Promise<ClientRequest> {
  const call = request({
    host: "127.0.0.1",
    port,
    path: "/v1/chat/completions",
    method: "POST",
    agent,
    headers: { ...headers, "content-type": "application/json" },
  });
  call.end(
    JSON.stringify({ model: MODEL, stream: true, messages: [{ role: "user", content: "Hello" }] }),
  );
  const [reply] = (await once(call, "response")) as [
    NodeJS.ReadableStream & { readonly statusCode: number },
  ];
  if (reply.statusCode !== 200)
    throw new Error(`The gateway answered a stream with ${reply.statusCode}.`);
  call.on("error", () => undefined);
  reply.on("error", () => undefined);
  await once(reply, "data");
  return call;
}
