/** Traffic at a constant rate, every fourth request a stream, and what its clients saw. */

import { setTimeout as pause } from "node:timers/promises";
import type { GatewayChild } from "./gateway-child.ts";

/** What a client saw of one request. */
export interface Sight {
  readonly isStream: boolean;
  readonly beganMs: number;
  readonly tookMs: number;
  /**
   * `served`, `refused` by a limit or a guardrail of the configuration, `failed` for everything
   * else.
   */
  readonly outcome: "served" | "refused" | "failed";
  /** Why it failed, in a few words. */
  readonly fault: string | undefined;
  readonly generation: string | undefined;
  /** The edit that the reply names, where an upstream's reply came through. */
  readonly edit: string | undefined;
}

/** Where and what is asked. */
export interface TrafficOptions {
  readonly gateway: GatewayChild;
  readonly path: string;
  readonly models: readonly string[];
  readonly requestsPerSecond: number;
}

/** Traffic that runs until it is stopped. */
export interface Traffic {
  stop(): Promise<readonly Sight[]>;
}

const REFUSALS = new Set([400, 402, 403, 429]);
const REQUEST_TIMEOUT_MS = 30_000;

/** Starts the traffic. */
export function startTraffic(options: TrafficOptions): Traffic {
  const stopping = new AbortController();
  const running: Promise<Sight>[] = [];
  const sending = (async () => {
    const begunMs = performance.now();
    for (let count = 0; !stopping.signal.aborted; count += 1) {
      running.push(sendOne(options, count));
      await pause(
        Math.max(
          0,
          begunMs + ((count + 1) * 1_000) / options.requestsPerSecond - performance.now(),
        ),
      );
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await sending;
      return Promise.all(running);
    },
  };
}

async function sendOne({ gateway, path, models }: TrafficOptions, count: number): Promise<Sight> {
  const isStream = count % 4 === 3;
  const beganMs = performance.now();
  const model = models[count % models.length];
  let response: Response | undefined;
  let text = "";
  let fault: string | undefined;
  try {
    response = await fetch(`${gateway.publicUrl}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
      // No request is like another one: a cache would answer with what an older generation said.
      body: JSON.stringify({
        model,
        stream: isStream,
        messages: [{ role: "user", content: `soak ${count}` }],
      }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    text = await response.text();
  } catch (error) {
    fault =
      error instanceof Error
        ? `${error.name} ${String((error.cause as Error | undefined)?.message ?? error.message)}`
        : "broken";
  }
  const tookMs = performance.now() - beganMs;
  const generation = response?.headers.get("x-sluice-generation") ?? undefined;
  const edit = /\bedit-\d+\b/.exec(text)?.[0];
  const seen = { isStream, beganMs, tookMs, generation, edit };
  if (response === undefined || fault !== undefined)
    return { ...seen, outcome: "failed", fault: fault ?? "no response" };
  if (REFUSALS.has(response.status))
    return { ...seen, outcome: "refused", fault: `status ${response.status}` };
  const isWhole = isStream
    ? text.endsWith("data: [DONE]\n\n") && !text.includes('data: {"error"')
    : true;
  if (response.status === 200 && isWhole) return { ...seen, outcome: "served", fault: undefined };
  return {
    ...seen,
    outcome: "failed",
    fault: response.status === 200 ? "a broken stream" : `status ${response.status}`,
  };
}
