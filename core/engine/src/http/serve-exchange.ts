/** One exchange from its route to its end: run the pipeline, settle the rows, write the reply. */

import type { ServerResponse } from "node:http";
import { checkReply } from "@sluice/kit/internals";
import { REPLY_ORIGIN, REPLY_SIGNAL } from "@sluice/runtime";
import {
  type Clock,
  type Frame,
  GatewayError,
  isGatewayError,
  type Log,
  type SpendRow,
  type StepContext,
  type StreamReply,
  type WholeReply,
} from "@sluice/contract";
import type { CompiledRoute, RouteOutline } from "../pipeline/compile.ts";
import { type ExchangeRecord, recordOf, writeRecord } from "../accounting/exchange-record.ts";
import type { LiveExchange } from "../pipeline/exchange.ts";
import type { RequestLedger } from "../accounting/ledger/ledger.ts";
import { closeAttempts, droppedEvents, spendRows } from "../accounting/rows.ts";
import { isLedgerRefusal, ledgerUnavailable } from "../accounting/ledger/guard.ts";
import type { RecentRequests, RequestKind } from "../accounting/recent-requests.ts";
import { writeBytes } from "./egress/bytes.ts";
import {
  estimatedUsageChunk,
  withEstimatedUsage,
  type EstimateParts,
  estimateUsage,
  hasUnreportedUsage,
} from "../accounting/usage/estimate.ts";
import type { UsageSampler } from "../accounting/usage/sampler.ts";
import { writeError } from "./egress/error.ts";
import { replyHeaders } from "./egress/headers.ts";
import { writeStream } from "./egress/stream.ts";
import { writeWhole } from "./egress/whole.ts";
import {
  EXPLAIN_HEADER,
  explainComment,
  explainHeader,
  mayExplain,
} from "../accounting/explain.ts";
import type { RequestMetrics } from "../accounting/request-metrics.ts";
import { closeReplies } from "./close-replies.ts";
import type { Detachment } from "./detached/detachment.ts";
import { isResponse, type Outgoing } from "./egress/outgoing.ts";
import { addEdgeHeaders, EDGE, writeAnswer } from "./extensions/write.ts";
import type { FailureLog } from "./failure-log.ts";
import { AnsweredByExtension } from "./ingress/extended.ts";
import type { ReplyForm, StreamForm } from "./form/reply-form.ts";

/** The parts of the process that serving needs. */
export interface ServeParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly failures: FailureLog;
  readonly ledger: RequestLedger;
  /** Counts tokens that no upstream reported. */
  readonly counting: EstimateParts;
  /** Adjusts the token estimates by reported usage, after the reply. */
  readonly sample: UsageSampler;
  /** The records of the newest requests. */
  readonly recent: RecentRequests<ExchangeRecord>;
  readonly metrics: RequestMetrics;
}

/**
 * Serves one exchange. Never throws: every failure becomes an answer, and every answer has its rows
 * first. `detachment`: of a route whose clients may not wait.
 */
export async function serveExchange(
  ctx: StepContext,
  exchange: LiveExchange,
  route: CompiledRoute,
  form: ReplyForm,
  response: ServerResponse,
  parts: ServeParts,
  detachment?: Detachment,
): Promise<void> {
  const { outline } = route;
  const output = (): Outgoing => detachment?.output ?? response;
  try {
    await route.run(ctx);
    const detaching = detachment?.detach();
    if (detaching !== undefined) await detaching;
    await answer(exchange, route, form, output(), parts);
  } catch (error) {
    if (error instanceof AnsweredByExtension)
      await answerInstead(exchange, error, outline, form, response, parts);
    else await refuse(exchange, outline, form, output(), parts, toGatewayError(error));
  } finally {
    exchange.end();
  }
  const { headersSent, statusCode } = output();
  const status = headersSent ? statusCode : undefined;
  parts.metrics.count(exchange, outline, status, parts.clock.monotonic());
  if (parts.recent.isOn) {
    writeRecord(
      parts.recent.next(kindOf(exchange, status), exchange.identity?.keyId),
      exchange,
      outline,
      status,
      parts.clock,
    );
  }
  parts.sample(exchange);
}

/**
 * Answers by an extension. The exchange ends first: what it has reserved is free for the calls that
 * the extension makes in its place, and they have the rows.
 */
async function answerInstead(
  exchange: LiveExchange,
  { answer: instead }: AnsweredByExtension,
  outline: RouteOutline,
  form: ReplyForm,
  response: ServerResponse,
  parts: ServeParts,
): Promise<void> {
  exchange.end();
  try {
    const gateway = EDGE.get(exchange)?.gateway();
    if (gateway === undefined) throw new Error("The exchange has no extensions.");
    const answered = await instead(gateway);
    exchange.isSettled = true;
    await writeAnswer(response, answered, exchange.id);
  } catch (error) {
    await refuse(exchange, outline, form, response, parts, toGatewayError(error));
  }
}

function kindOf({ identity, attempts }: LiveExchange, status: number | undefined): RequestKind {
  if (identity === undefined) return "unauthenticated";
  if (attempts.length === 0 && status !== undefined && status >= 400 && status < 500)
    return "refused";
  return status === 200 && attempts.length === 1 && attempts[0]?.outcome === "success"
    ? "clean"
    : "notable";
}

async function answer(
  exchange: LiveExchange,
  { outline, heartbeatMs }: CompiledRoute,
  form: ReplyForm,
  response: Outgoing,
  parts: ServeParts,
): Promise<void> {
  const { reply } = exchange;
  if (reply === undefined)
    throw new GatewayError("plugin_failed", "The pipeline ended without a reply.");
  try {
    // The setter checked the reply, but a step may have changed it since.
    checkReply(reply);
    form.answersAs?.(REPLY_ORIGIN.get(exchange) ?? exchange);
    switch (reply.kind) {
      case "whole":
        await answerWhole(exchange, reply, outline, form, response, parts);
        return;
      case "stream":
        await answerStream(exchange, reply, outline, form, response, heartbeatMs, parts);
        return;
      case "bytes":
        if (!isResponse(response))
          throw new GatewayError("plugin_failed", "Bytes cannot be a reply without a client.");
        await writeBytes(
          response,
          reply,
          withEdgeHeaders(exchange, headersOf(exchange, outline, form, reply.status, parts), reply),
          async () => {
            await settle(exchange, parts);
          },
          exchange.signal,
        );
        return;
      default:
        reply satisfies never;
        throw new GatewayError("plugin_failed", "The pipeline ended without a reply.");
    }
  } catch (error) {
    if (isGatewayError(error) || response.headersSent) throw error;
    throw new GatewayError("plugin_failed", "A step set a reply that cannot be sent.", {
      cause: error,
    });
  }
}

async function answerWhole(
  exchange: LiveExchange,
  reply: WholeReply,
  outline: RouteOutline,
  form: ReplyForm,
  response: Outgoing,
  parts: ServeParts,
): Promise<void> {
  const costNanoUsd = await settle(exchange, parts);
  const formed = form.relayed?.(reply) ?? form.whole(withEstimatedUsage(exchange, reply));
  const shown = formed instanceof Promise ? await formed : formed;
  const headers = headersOf(exchange, outline, form, reply.status, parts);
  if (costNanoUsd !== undefined) headers.push("x-sluice-cost", usd(costNanoUsd));
  addEdgeHeaders(exchange, headers, { status: reply.status, costNanoUsd });
  const written = writeWhole(response, shown, headers, exchange.ending.holder);
  // What a whole reply has replaced goes on within nothing.
  if (exchange.replaced.length > 0) void closeReplies(exchange.replaced);
  if (written !== undefined) await written;
}

async function answerStream(
  exchange: LiveExchange,
  reply: StreamReply,
  outline: RouteOutline,
  form: ReplyForm,
  response: Outgoing,
  heartbeatMs: number,
  parts: ServeParts,
): Promise<void> {
  const settled = async (
    cut: GatewayError | undefined,
    last: Frame | undefined,
    stream: StreamForm,
  ): Promise<string> => {
    if (cut !== undefined) exchange.failure ??= cut;
    await settle(exchange, parts);
    const chunk = cut === undefined ? estimatedUsageChunk(exchange, last) : undefined;
    let text = chunk === undefined ? "" : stream.chunk(chunk);
    const dropped = droppedEvents(exchange);
    // Where silence is white space, clients take a comment for a broken event.
    if (dropped > 0 && form.heartbeat.trim() !== "")
      text += `: x-sluice-dropped-events ${dropped}\n\n`;
    if (!mayExplain(exchange)) return text;
    return text + explainComment(recordOf(exchange, outline, reply.status, parts.clock));
  };
  const headers = withEdgeHeaders(exchange, replyHeaders(exchange, form, parts.clock), reply);
  const signal = REPLY_SIGNAL.get(exchange) ?? exchange.signal;
  const failure = await writeStream(response, reply, headers, heartbeatMs, form, settled, signal);
  if (failure !== undefined) parts.failures.report(exchange, failure);
}

async function refuse(
  exchange: LiveExchange,
  outline: RouteOutline,
  form: ReplyForm,
  response: Outgoing,
  parts: ServeParts,
  error: GatewayError,
): Promise<void> {
  exchange.failure ??= error;
  parts.failures.report(exchange, error);
  const { reply, replaced } = exchange;
  const faults = await closeReplies(reply === undefined ? replaced : [reply, ...replaced]);
  for (const fault of faults)
    parts.log.warn("a reply could not be closed", { request_id: exchange.id, error: fault });
  try {
    await settle(exchange, parts);
  } catch (cause) {
    const isKept = cause instanceof Error && isLedgerRefusal(cause);
    if (!isKept)
      parts.log.error("spend rows of a failed request could not be made", {
        request_id: exchange.id,
        error: cause,
      });
  }
  if (response.headersSent) {
    response.destroy();
    return;
  }
  try {
    const headers = headersOf(exchange, outline, form, error.status, parts);
    writeError(response, error, withEdgeHeaders(exchange, headers, error), form);
  } catch (cause) {
    // A step may have set a header that cannot be sent.
    parts.log.error("the headers of a reply cannot be sent", {
      request_id: exchange.id,
      error: cause,
    });
    if (response.headersSent) response.destroy();
    else writeError(response, error, ["x-request-id", exchange.id], form);
  }
}

function withEdgeHeaders(
  exchange: LiveExchange,
  headers: string[],
  { status }: { readonly status: number },
): string[] {
  addEdgeHeaders(exchange, headers, { status });
  return headers;
}

/** The headers of a reply, with the explanation if the client asks for it and may have it. */
function headersOf(
  exchange: LiveExchange,
  outline: RouteOutline,
  form: ReplyForm,
  status: number,
  { clock }: ServeParts,
): string[] {
  const headers = replyHeaders(exchange, form, clock);
  if (mayExplain(exchange))
    headers.push(EXPLAIN_HEADER, explainHeader(recordOf(exchange, outline, status, clock)));
  return headers;
}

/**
 * Makes the rows durable, once. Returns their cost, `undefined` when unknown or when there are
 * none.
 */
async function settle(exchange: LiveExchange, parts: ServeParts): Promise<number | undefined> {
  if (exchange.isSettled) return undefined;
  // A reply waits for a token count only here.
  if (hasUnreportedUsage(exchange)) await estimateUsage(exchange, parts.counting);
  closeAttempts(exchange, parts.clock);
  const rows = spendRows(exchange, parts.clock);
  exchange.rows = rows;
  // The ledger owns the rows from here on, also before they are written. A second call would double
  // them.
  exchange.isSettled = true;
  if (rows.length > 0) {
    try {
      await parts.ledger.record(rows);
    } catch (cause) {
      throw ledgerUnavailable(cause);
    }
  }
  return sum(rows);
}

function sum(rows: readonly SpendRow[]): number | undefined {
  let total: number | undefined;
  for (const { costNanoUsd } of rows) {
    if (costNanoUsd === null) return undefined;
    total = (total ?? 0) + costNanoUsd;
  }
  return total;
}

/** Nano-dollars as dollars, without a float and without an exponent. */
function usd(nanoUsd: number): string {
  const digits = String(nanoUsd).padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, "");
}

function toGatewayError(error: unknown): GatewayError {
  return isGatewayError(error)
    ? error
    : new GatewayError("internal_error", "The gateway failed on this request.", { cause: error });
}
