/**
 * An exchange whose client does not wait. Before its first call the client gets an answer, and the
 * exchange goes on: with its steps, its deadline, its rows and its lease. Its reply is kept.
 */

import type { ServerResponse } from "node:http";
import { type DetachedRun, KEEPER, REPLY_ORIGIN, type ReplyKeeper } from "@sluice/runtime";
import { type Clock, GatewayError, isGatewayError, type Log } from "@sluice/contract";
import { writtenDocument } from "@sluice/kit/internals";
import type { LiveExchange } from "../../pipeline/exchange.ts";
import { writeBytes } from "../egress/bytes.ts";
import { replyHeaders } from "../egress/headers.ts";
import type { Outgoing } from "../egress/outgoing.ts";
import { writeWhole } from "../egress/whole.ts";
import { addEdgeHeaders } from "../extensions/write.ts";
import type { BegunReply, DetachedForm } from "../form/detached.ts";
import type { FacedForm } from "../form/faced.ts";
import { DetachedOutput } from "./output.ts";

/** The parts of the process that a detachment needs. */
export interface DetachmentParts {
  readonly clock: Clock;
  readonly log: Log;
}

const CANCELLED = new GatewayError("client_closed", "The client ended the response.");
const NOT_KEPT = new GatewayError(
  "internal_error",
  "The response could not be stored: it is larger than max_entry of the step responses, or the shared state does not take it.",
);
const EVENT_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

/** A reply that is made without its client. */
interface Begun {
  readonly form: DetachedForm;
  readonly run: DetachedRun;
  readonly output: DetachedOutput;
  /** Keeps its last entry, where the reply was not kept. */
  readonly finish: (error: GatewayError) => Promise<void>;
}

/** The detachment of one exchange. It may never happen. */
export class Detachment {
  readonly #form: FacedForm;
  readonly #exchange: LiveExchange;
  readonly #response: ServerResponse;
  readonly #parts: DetachmentParts;
  #detaching: Promise<void> | undefined;
  #begun: Begun | undefined;

  constructor(
    form: FacedForm,
    exchange: LiveExchange,
    response: ServerResponse,
    parts: DetachmentParts,
  ) {
    this.#form = form;
    this.#exchange = exchange;
    this.#response = response;
    this.#parts = parts;
  }

  /** Whether the client has its answer and the exchange goes on. */
  get isDetached(): boolean {
    return this.#begun !== undefined;
  }

  /** Ends the exchange of a client that waits. */
  abort(reason: GatewayError): void {
    if (!this.isDetached) this.#exchange.abort(reason);
  }

  /** Where the reply goes now. */
  get output(): Outgoing {
    return this.#begun?.output ?? this.#response;
  }

  /**
   * Answers the client, once. Called before each call and before the reply. `undefined` where the
   * client waits, or has its answer. Rejects where the reply cannot be made without the client.
   */
  detach(): Promise<void> | undefined {
    if (this.isDetached) return undefined;
    if (this.#detaching !== undefined) return this.#detaching;
    const { detached } = this.#form;
    // The reply to a repeat is there, and was kept by the first request.
    if (detached === undefined || REPLY_ORIGIN.get(this.#exchange) !== undefined) return undefined;
    this.#detaching = this.#begin(detached);
    return this.#detaching;
  }

  /** Ends what was made without the client, after its exchange. Never rejects. */
  async end(): Promise<void> {
    if (this.#begun === undefined) return;
    const { form, run, output, finish } = this.#begun;
    const { signal, failure } = this.#exchange;
    const reason: unknown = signal.aborted ? signal.reason : failure;
    const error = isGatewayError(reason) ? reason : NOT_KEPT;
    await finish(error);
    if (!output.writableEnded || !output.hasEvents)
      await run.append(form.lastEvents(output.lastEvents, error));
    await run.end();
  }

  async #begin(form: DetachedForm): Promise<void> {
    const exchange = this.#exchange;
    const { signal } = exchange;
    const keeper = KEEPER.get(exchange);
    const begun = form.begun();
    if (keeper?.begin === undefined || begun === undefined)
      throw new Error("The keeper of the exchange keeps nothing that is detached.");
    const { id, entry } = begun.kept;
    const run = await keeper.begin({
      id,
      entry,
      hasEvents: exchange.request?.stream === true,
      face: begun.face,
      cancel: () => exchange.abort(CANCELLED),
    });
    const finish = finisher(exchange, keeper, begun);
    if (signal.aborted) {
      await finish(signal.reason as GatewayError);
      await run.end();
      throw signal.reason;
    }
    this.#begun = { form, run, output: new DetachedOutput(run), finish };
    this.#answer(run, begun);
  }

  #answer(run: DetachedRun, { kept }: BegunReply): void {
    const exchange = this.#exchange;
    const headers = replyHeaders(exchange, this.#form, this.#parts.clock);
    headers.push("x-sluice-response-id", kept.id);
    addEdgeHeaders(exchange, headers, { status: 200 });
    const written =
      exchange.request?.stream === true
        ? this.#writeEvents(run, headers)
        : writeWhole(
            this.#response,
            { kind: "whole", status: 200, document: writtenDocument(kept.reply) },
            headers,
            exchange.ending.holder,
          );
    written?.catch((error: unknown) => {
      if (!isGatewayError(error) || error.code !== "client_closed")
        this.#parts.log.warn("a client could not be given the events of its response", {
          request_id: exchange.id,
          error,
        });
    });
  }

  #writeEvents(run: DetachedRun, headers: string[]): Promise<void> {
    const left = new AbortController();
    this.#response.once("close", () =>
      left.abort(new GatewayError("client_closed", "The client closed the connection.")),
    );
    const reply = {
      kind: "bytes",
      status: 200,
      headers: EVENT_HEADERS,
      body: run.events(left.signal),
    } as const;
    return writeBytes(this.#response, reply, headers, async () => undefined, left.signal);
  }
}

/** Notes whether the reply is kept. What is returned keeps the last entry of one that is not. */
function finisher(
  exchange: LiveExchange,
  keeper: ReplyKeeper,
  { kept: { id, entry }, face }: BegunReply,
): (error: GatewayError) => Promise<void> {
  let isKept = false;
  const noted = (result: boolean): boolean => (isKept ||= result);
  KEEPER.set(exchange, {
    ...keeper,
    keep(keptId, reply) {
      const result = keeper.keep(keptId, reply);
      if (keptId !== id) return result;
      return result instanceof Promise ? result.then(noted) : noted(result);
    },
  });
  return async (error) => {
    if (!isKept) await keeper.keep(id, face.ended(entry, error));
  };
}
