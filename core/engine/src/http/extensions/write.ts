/** What extensions write: headers of replies, other forms of errors, answers of their own. */

import type { ServerResponse } from "node:http";
import {
  type EdgeAnswer,
  type EdgeError,
  type EdgeGateway,
  type EdgeStream,
  errorBody,
  type GatewayError,
  type Log,
} from "@sluice/contract";
import { defineSlot } from "@sluice/kit";
import type { Edge } from "../../generation/extensions.ts";
import type { LiveExchange } from "../../pipeline/exchange.ts";
import { referenceForm } from "../form/reference.ts";
import type { ReplyForm } from "../form/reply-form.ts";
import { drained } from "../egress/drained.ts";

/** What the extensions of a generation do for one exchange. */
export interface ExchangeEdge {
  readonly edge: Edge;
  readonly gateway: () => EdgeGateway;
  readonly log: Log;
}

/** Set before the first step where there are extensions. */
export const EDGE = defineSlot<ExchangeEdge>("edge");

/** Names that an extension may write: its own, and none of the gateway's. */
const WRITABLE = /^x-(?!sluice-|request-id$|content-type-options$|accel-)[a-z0-9_-]{1,100}$/;
const PLAIN = /^[\x20-\x7e]{0,1000}$/;

/** Adds the headers of extensions to those of a reply. What fails is logged, and left out. */
export function addEdgeHeaders(
  exchange: LiveExchange,
  headers: string[],
  reply: { readonly status: number; readonly costNanoUsd?: number | undefined },
): void {
  const own = EDGE.get(exchange);
  if (own === undefined) return;
  const { status, costNanoUsd } = reply;
  const { edge, log } = own;
  const { deadlineMs, startedMs } = exchange.lifetime;
  const timeoutMs = Math.round(deadlineMs - startedMs);
  const header = (name: string): string | undefined => {
    const at = headers.findIndex((value, index) => index % 2 === 0 && value === name);
    return at < 0 ? undefined : headers[at + 1];
  };
  const about = {
    exchange,
    status,
    costNanoUsd,
    failure: exchange.failure,
    timeoutMs,
    header,
  };
  for (const write of edge.writers) {
    try {
      for (const [name, value] of Object.entries(write(about)))
        if (WRITABLE.test(name) && PLAIN.test(value) && header(name) === undefined)
          headers.push(name, value);
    } catch (error) {
      log.warn("an extension could not write headers", { request_id: exchange.id, error });
    }
  }
}

const forms = new WeakMap<Edge, ReplyForm>();

/** The reference dialect with the errors of extensions; `undefined` where none has any. */
export function edgeForm(edge: Edge | undefined): ReplyForm | undefined {
  if (edge === undefined || edge.errors.length === 0) return undefined;
  const known = forms.get(edge);
  if (known !== undefined) return known;
  const base = referenceForm("text");
  const bodyOf = (error: GatewayError, said: EdgeError): object => {
    const { error: own } = errorBody(error, "text");
    const { code = own.code, type = own.type } = said;
    return { error: { ...own, code, type } };
  };
  const form: ReplyForm = {
    ...base,
    error: (error) => {
      const said = formed(edge, error);
      const { status = error.status } = said;
      return {
        status: status >= 400 && status <= 599 ? status : error.status,
        body: bodyOf(error, said),
      };
    },
    stream: (relays) => ({
      ...base.stream(relays),
      failure: (error) => `data: ${JSON.stringify(bodyOf(error, formed(edge, error)))}\n\n`,
    }),
  };
  forms.set(edge, form);
  return form;
}

function formed({ errors }: Edge, error: GatewayError): EdgeError {
  for (const form of errors) {
    const said = form(error);
    if (said !== undefined) return said;
  }
  return {};
}

/** Writes an answer of an extension. `id` is the request's, where the answer names no other. */
export async function writeAnswer(
  response: ServerResponse,
  answer: EdgeAnswer | EdgeStream,
  id: string,
): Promise<void> {
  if (response.destroyed || response.headersSent) return;
  const { status, headers = {} } = answer;
  const all = Object.entries({ "x-request-id": id, ...headers }).flat();
  if ("chunks" in answer) {
    response.writeHead(status, all);
    for await (const chunk of answer.chunks) {
      if (!response.write(chunk)) await drained(response);
      if (response.destroyed) return;
    }
    response.end();
    return;
  }
  const text = Buffer.from(JSON.stringify(answer.body));
  all.push("content-type", "application/json", "content-length", String(text.length));
  response.writeHead(status, all);
  response.end(text);
}
