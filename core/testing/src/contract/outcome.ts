/** What a provider made of something, as data that a case can expect. */

import { Buffer } from "node:buffer";
import {
  type DecodedReply,
  type EncodedCall,
  type GatewayError,
  isGatewayError,
  type JsonObject,
  type JsonValue,
  type Price,
  type Provider,
  type ProviderRequest,
  Secret,
  type UpstreamCall,
  type Usage,
} from "@sluice/contract";
import { Stages } from "@sluice/kit";
import { costNanoUsd } from "@sluice/runtime";
import { must } from "./fault.ts";
import { CONTRACT_KEY, SHOWN_KEY } from "./subject.ts";

/**
 * What came of a function that may refuse: its value, or the gateway's error. Every other error is
 * thrown on.
 */
export function attempted<T>(
  run: () => T,
): { readonly value: T } | { readonly error: GatewayError } {
  try {
    return { value: run() };
  } catch (error) {
    if (isGatewayError(error)) return { error };
    throw error;
  }
}

/** An upstream call, or the refusal of a request: the same at once and in stages. */
export function requestOutcome(provider: Provider, request: ProviderRequest): JsonValue {
  const shown = (encode: () => UpstreamCall): JsonValue => {
    const made = attempted(encode);
    return "error" in made ? { error: shownError(made.error) } : shownCall(made.value);
  };
  const whole = shown(() => provider.encode(request));
  if (provider.encodeInStages === undefined) return whole;
  const stages = provider.encodeInStages.bind(provider);
  const staged = shown(() => Stages.atOnce(stages(request)));
  must(
    JSON.stringify(staged) === JSON.stringify(whole),
    "`encodeInStages` makes another call than `encode`.",
  );
  return whole;
}

/** A call as data: the body as JSON where it is JSON, secrets as `[secret]`. */
function shownCall(call: UpstreamCall): JsonObject {
  if (call.kind === "local")
    return { kind: "local", status: call.status, headers: call.headers, body: [...call.body] };
  const headers = Object.fromEntries(
    Object.entries(call.headers).map(([name, value]) => [name, shownHeader(value)]),
  );
  return { method: call.method, url: call.url, headers, body: shownBody(call.body) };
}

function shownHeader(value: string | Secret): string {
  return (value instanceof Secret ? value.reveal() : value).replaceAll(CONTRACT_KEY, SHOWN_KEY);
}

function shownBody(body: EncodedCall["body"]): JsonValue {
  if (body === undefined) return null;
  const text = bodyText(body);
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** The text of a body that `encode` returned. */
export function bodyText(body: EncodedCall["body"]): string {
  if (body === undefined) return "";
  if (typeof body === "string") return body;
  return body instanceof Uint8Array ? Buffer.from(body).toString("utf8") : bodyText(body.bytes);
}

/** What a client reads of an error, and what retry and fallback ask it. */
export function shownError(error: GatewayError): JsonObject {
  return {
    code: error.code,
    status: error.status,
    retryable: error.retryable,
    message: error.message,
    ...(error.param === undefined ? {} : { param: error.param }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  };
}

/** A whole reply with its usage and cost, or its error. */
export function replyOutcome(
  provider: Provider,
  body: Uint8Array,
  request: ProviderRequest,
  price: Price | undefined,
): JsonValue {
  const made = attempted(() => provider.decode(body, request));
  if ("error" in made) return { error: shownError(made.error) };
  return { reply: documentValue(made.value), ...shownUsage(made.value.usage, price) };
}

function documentValue({ document }: DecodedReply): JsonValue {
  return JSON.parse(bodyText(document.bytes)) as JsonValue;
}

/** A usage and what it costs; `null` where it is unknown. */
export function shownUsage(usage: Usage | undefined, price: Price | undefined): JsonObject {
  const shown = { usage: usage === undefined ? null : (usage as unknown as JsonObject) };
  if (price === undefined) return shown;
  return {
    ...shown,
    costNanoUsd: usage === undefined ? null : (costNanoUsd(usage, price) ?? null),
  };
}
