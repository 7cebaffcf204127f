/** Passes a request on to one worker, and its answer back as it comes. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { GatewayError } from "@sluice/contract";
import { request as httpRequest } from "../../http/node-http.ts";
import type { Question, WorkerAddress } from "./ask-workers.ts";

/** Headers between two hops. */
const HOP: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

/**
 * Relays one answer. A client that leaves ends the worker's request. Throws `overloaded` when the
 * worker gives no head; a body that is cut cuts the client's.
 */
export async function relay(
  worker: WorkerAddress,
  { method, url, headers, body }: Question,
  response: ServerResponse,
): Promise<void> {
  const controller = new AbortController();
  const left = (): void => controller.abort();
  response.once("close", left);
  try {
    const answer = await headOf(worker, { method, url, headers, body }, controller.signal);
    const kept = Object.entries(answer.headers).filter(([name]) => !HOP.has(name));
    response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept));
    await pipeline(answer, response).catch(() => response.destroy());
  } catch (cause) {
    if (controller.signal.aborted) return;
    throw new GatewayError("overloaded", `Worker ${worker.number} gave no answer.`, {
      retryAfterMs: 1_000,
      cause,
    });
  } finally {
    response.off("close", left);
    controller.abort();
  }
}

function headOf(
  { adminUrl }: WorkerAddress,
  { method, url, headers, body }: Pick<Question, "method" | "url" | "headers" | "body">,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(body.length) };
    httpRequest(`${adminUrl}${url}`, { method, headers: { ...headers, ...length }, signal })
      .once("response", resolve)
      .once("error", reject)
      .end(body);
  });
}
