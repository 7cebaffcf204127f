/**
 * An upstream that speaks every dialect, each below a path of its own: it reads, asks the model,
 * and answers in kind.
 */

import type { ServerResponse } from "node:http";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { createNativeUpstream, type NativeRequest } from "../../support/native-upstream.ts";
import { answerOf, type Asked, type Said } from "./model.ts";

/** A dialect's own way to be asked and to answer. */
export interface Simulator {
  /**
   * Reads a request. Throws for whatever the real API would not take. `url` stands below the
   * dialect's path.
   */
  read(request: NativeRequest, url: string): Asked;
  /** A whole reply. */
  reply(said: Said): JsonValue;
  /** The bytes of a stream. */
  stream(said: Said): Buffer;
  /** Default: server-sent events. */
  readonly streamType?: string;
}

/** A running upstream. */
export interface SimulatedUpstream {
  readonly url: string;
  /** What the simulators could not read. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

/** Bytes that are written at once: less than most events. */
const WRITTEN_BYTES = 60;

/** Starts the upstream. Machines of Google's cloud find their token in it too. */
export async function createSimulatedUpstream(
  simulators: ReadonlyMap<string, Simulator>,
  token: string,
): Promise<SimulatedUpstream> {
  const upstream = await createNativeUpstream();
  const faults: string[] = [];
  upstream.answer((response, request) => {
    if (request.url.startsWith("/computeMetadata/")) {
      writeJson(response, 200, { access_token: token, expires_in: 3_599, token_type: "Bearer" });
      return;
    }
    const [, name = "", url = ""] = /^\/([^/]+)(\/.*)$/.exec(request.url) ?? [];
    try {
      const simulator = simulators.get(name);
      if (simulator === undefined) throw new Error("No dialect is spoken there.");
      const asked = simulator.read(request, url);
      const said = answerOf(asked);
      if (asked.stream)
        writeStream(response, simulator.streamType ?? "text/event-stream", simulator.stream(said));
      else writeJson(response, 200, simulator.reply(said));
    } catch (error) {
      faults.push(`${request.url}: ${String(error)}\n${request.body.toString()}`);
      writeJson(response, 418, { error: { message: String(error) } });
    }
  });
  return { url: upstream.url, faults, close: () => upstream.close() };
}

/** The JSON object of a request. */
export function bodyOf({ body }: NativeRequest): JsonObject {
  return JSON.parse(body.toString()) as JsonObject;
}

function writeJson(response: ServerResponse, status: number, value: JsonValue): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function writeStream(response: ServerResponse, type: string, bytes: Buffer): void {
  response.writeHead(200, { "content-type": type });
  for (let at = 0; at < bytes.length; at += WRITTEN_BYTES)
    response.write(bytes.subarray(at, at + WRITTEN_BYTES));
  response.end();
}
