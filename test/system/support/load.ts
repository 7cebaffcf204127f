/** Constant load: loops that each send one request after the other, and note what they saw. */

import { chat, MESSAGES } from "./client.ts";
import type { GatewayProcess } from "./gateway-process.ts";

/** What a client saw of one request. */
export interface Seen {
  readonly isStream: boolean;
  /** `undefined` when not even headers came. */
  readonly status: number | undefined;
  readonly requestId: string | null;
  readonly generation: string | null;
  /** The body as far as it came. */
  readonly text: string;
  /** The client saw the end: every promised byte of a whole reply, or the end mark of a stream. */
  readonly hasEnded: boolean;
}

/** Load that runs until it is stopped. */
export interface Load {
  /** Requests that have ended so far, however they did. */
  readonly count: number;
  /** Ends the loops after their current request, and gives everything they saw. */
  stop(): Promise<readonly Seen[]>;
}

/**
 * Starts `loops` loops. Every fourth streams. A loop ends with the first request that does not even
 * get headers.
 */
export function startLoad(gateway: GatewayProcess, loops: number, model: string): Load {
  const seen: Seen[] = [];
  const stopping = new AbortController();
  const running = Array.from({ length: loops }, async (_, index) => {
    while (!stopping.signal.aborted) {
      const result = await sendOne(gateway, model, index % 4 === 0);
      seen.push(result);
      if (result.status === undefined) return;
    }
  });
  return {
    get count() {
      return seen.length;
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
      return seen;
    },
  };
}

/** Sends one request and notes what came of it. Never rejects. */
export async function sendOne(
  gateway: GatewayProcess,
  model: string,
  isStream: boolean,
): Promise<Seen> {
  let response: Response | undefined;
  let text = "";
  try {
    response = await chat(gateway, { model, messages: MESSAGES, stream: isStream });
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? [])
      text += decoder.decode(piece as Uint8Array, { stream: true });
  } catch {
    // A connection that broke: what came until then counts.
  }
  const promised = Number(response?.headers.get("content-length") ?? Number.NaN);
  const hasEnded = isStream
    ? text.endsWith("data: [DONE]\n\n")
    : Buffer.byteLength(text) === promised;
  return {
    isStream,
    status: response?.status,
    requestId: response?.headers.get("x-request-id") ?? null,
    generation: response?.headers.get("x-sluice-generation") ?? null,
    text,
    hasEnded,
  };
}
