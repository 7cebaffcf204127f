/** The response headers that every reply of an exchange carries. */

import { IS_NATIVE, SERVED } from "@sluice/runtime";
import type { Clock } from "@sluice/contract";
import type { LiveExchange } from "../../pipeline/exchange.ts";
import type { ReplyForm } from "../form/reply-form.ts";

/** Headers as a flat list of names and values, ready for `writeHead`. */
export function replyHeaders(exchange: LiveExchange, form: ReplyForm, clock: Clock): string[] {
  const { attempts } = exchange;
  const headers = ["x-request-id", exchange.id, "x-sluice-generation", String(exchange.generation)];
  // Of parallel attempts, the one that answered, or else the last.
  const last =
    attempts.findLast(({ error }) => error === undefined) ??
    attempts.at(-1) ??
    SERVED.get(exchange);
  if (last !== undefined) {
    exchange.overheadMs = overheadMs(exchange, clock);
    // A native request names the upstream's model.
    const named = exchange.operation === "passthrough" ? undefined : (last.model ?? exchange.model);
    const model = named?.id ?? exchange.request?.model ?? "";
    if (model !== "") headers.push("x-sluice-model", headerSafe(model));
    headers.push(
      "x-sluice-provider",
      last.target.provider,
      "x-sluice-attempts",
      String(attempts.length),
      "x-sluice-overhead-ms",
      exchange.overheadMs.toFixed(2),
    );
    if (last.upstreamRequestId !== undefined)
      headers.push("x-upstream-request-id", last.upstreamRequestId);
  }
  if (form.dropped.length > 0 && IS_NATIVE.get(exchange) !== true)
    addDropped(exchange, form.dropped);
  for (const [name, value] of exchange.headers) headers.push(name, headerSafe(value));
  return headers;
}

/** Adds the fields that a face left out to those that the provider did not take. */
function addDropped({ headers }: LiveExchange, names: readonly string[]): void {
  const before = headers.get(DROPPED_HEADER);
  const all = [...(before === undefined ? [] : before.split(", ")), ...names];
  headers.set(DROPPED_HEADER, [...new Set(all)].join(", "));
}

function overheadMs(exchange: LiveExchange, clock: Clock): number {
  let upstreamMs = 0;
  for (const attempt of exchange.attempts) upstreamMs += attempt.upstreamMs ?? 0;
  return Math.max(0, clock.monotonic() - exchange.startedMs - upstreamMs);
}

const DROPPED_HEADER = "x-sluice-dropped-params";

/** Clients take 16 KB of headers in all. */
const MAX_VALUE_CHARACTERS = 1_000;

/**
 * Makes a header value, which is visible ASCII, from a model id, which may be any text of any
 * length.
 */
function headerSafe(value: string): string {
  const short = value.slice(0, MAX_VALUE_CHARACTERS);
  return /^[\x20-\x7e]*$/.test(short) ? short : encodeURIComponent(short.toWellFormed());
}
