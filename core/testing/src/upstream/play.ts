/** Plays a script onto one response. */

import type { ServerResponse } from "node:http";
import { once } from "node:events";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { countUsage, errorObject, streamEvents, wholeBody } from "./bodies.ts";
import { mediaReply } from "./media-bodies.ts";
import type { OpenRecord } from "./record.ts";
import type {
  BytesAction,
  ErrorAction,
  ReplyAction,
  ReplyFault,
  UpstreamAction,
} from "./script.ts";

/** Long enough for the peer to read what was written: a reset may overtake unread bytes. */
const SETTLE_MS = 5;

type Drip = NonNullable<ReplyAction["drip"]>;

/** One response being played. `signal` is aborted when the connection closes. */
export interface Stage {
  readonly record: OpenRecord;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

/** Plays one action to its end. Rejects with an AbortError when the peer goes away. */
export async function play(stage: Stage, action: UpstreamAction): Promise<void> {
  switch (action.kind) {
    case "reply":
      if (action.delayMs !== undefined)
        await pause(action.delayMs, undefined, { signal: stage.signal });
      return stage.record.parsed?.["stream"] === true
        ? playStream(stage, action)
        : playWhole(stage, action);
    case "error":
      return playError(stage, action);
    case "bytes":
      return playBytes(stage, action);
    case "reset":
      return reset(stage);
    case "hang":
      return hang(stage);
    default:
      throw new TypeError(`Unknown action ${JSON.stringify(action satisfies never)}.`);
  }
}

async function playWhole(stage: Stage, action: ReplyAction): Promise<void> {
  const media = mediaReply(stage.record, action);
  const body = Buffer.from(JSON.stringify(media?.body ?? wholeBody(stage.record, action)));
  const { fault } = action;
  begin(stage, 200, "application/json", {
    "content-length": String(body.length),
    ...action.headers,
  });
  stage.record.usage = media?.usage ?? countUsage(stage.record, action);
  await write(stage, fault === undefined ? body : body.subarray(0, fault.after), action.drip);
  // A body that ends too early has to break its promised length, which only a closed connection can
  // do.
  if (fault !== undefined) return fault.kind === "hang" ? hang(stage) : reset(stage);
  stage.response.end();
}

async function playStream(stage: Stage, action: ReplyAction): Promise<void> {
  const { record, response, signal } = stage;
  const { fault, eventDelayMs } = action;
  begin(stage, 200, "text/event-stream; charset=utf-8", {
    "cache-control": "no-cache",
    ...action.headers,
  });
  const say = async (data: string) => {
    if (fault !== undefined && record.eventsSent === fault.after && (await fail(stage, fault)))
      return false;
    if (record.eventsSent > 0 && eventDelayMs !== undefined)
      await pause(eventDelayMs, undefined, { signal });
    else await nextTurn(undefined, { signal });
    await write(stage, `data: ${data}\n\n`, action.drip);
    record.eventsSent += 1;
    return true;
  };
  record.usage = countUsage(record, action, 0);
  for (const { chunk, tokens } of streamEvents(record, action)) {
    if (!(await say(JSON.stringify(chunk)))) return;
    record.usage = countUsage(record, action, tokens);
  }
  if (await say("[DONE]")) response.end();
}

/** Plays a fault. Returns true when the stream is over with it. */
async function fail(stage: Stage, fault: ReplyFault): Promise<boolean> {
  if (fault.kind === "reset") await reset(stage);
  else if (fault.kind === "hang") await hang(stage);
  else if (fault.kind === "garbage") {
    await write(stage, 'data: {"choices":[{"delta"\n\n');
    return false;
  } else {
    if (fault.kind === "error")
      await write(stage, `data: ${JSON.stringify(errorObject({ status: 500 }))}\n\n`);
    stage.response.end();
  }
  return true;
}

async function playError(stage: Stage, action: ErrorAction): Promise<void> {
  if (action.delayMs !== undefined)
    await pause(action.delayMs, undefined, { signal: stage.signal });
  const headers = {
    ...(action.retryAfter !== undefined && { "retry-after": action.retryAfter }),
    ...action.headers,
  };
  begin(stage, action.status, "application/json", headers);
  stage.response.end(JSON.stringify(errorObject(action)));
}

async function playBytes(stage: Stage, action: BytesAction): Promise<void> {
  stage.record.usage = action.usage;
  begin(stage, action.status ?? 200, action.contentType ?? "application/json", action.headers);
  await write(stage, action.body, action.drip);
  stage.response.end();
}

function begin(
  stage: Stage,
  status: number,
  type: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const requestId = `req_upstream_${stage.record.number}`;
  stage.record.status = status;
  stage.response.writeHead(status, { "content-type": type, "x-request-id": requestId, ...headers });
  stage.response.flushHeaders();
}

async function write(stage: Stage, body: string | Uint8Array, drip?: Drip): Promise<void> {
  const { response, signal } = stage;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const step = drip?.bytes ?? Math.max(bytes.length, 1);
  for (let start = 0; start < bytes.length; start += step) {
    if (drip !== undefined && start > 0) await pause(drip.everyMs, undefined, { signal });
    signal.throwIfAborted();
    if (!response.write(bytes.subarray(start, start + step)))
      await once(response, "drain", { signal });
  }
}

/** Waits until what was written has left, then drops the connection with a TCP reset. */
async function reset({ record, response, signal }: Stage): Promise<void> {
  await pause(SETTLE_MS, undefined, { signal });
  record.settled = true;
  response.socket?.resetAndDestroy();
}

async function hang({ signal }: Stage): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
  signal.throwIfAborted();
}
