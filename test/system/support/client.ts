/**
 * What a client and an administrator of the gateway do: chat, ask for rows, ask how the
 * configuration is.
 */

import OpenAI from "openai";
import { eventually } from "./eventually.ts";
import type { GatewayProcess } from "./gateway-process.ts";

export const MESSAGES = [{ role: "user" as const, content: "Say something, please." }];

/** A spend row as the gateway shows it, as far as the tests look. */
export interface SpendRow {
  readonly request_id: string;
  readonly attempt: number;
  readonly call_type: string;
  readonly status: "success" | "failure" | "partial";
  readonly error_code: string | null;
  readonly api_key: string;
  readonly model: string;
  readonly model_group: string | null;
  readonly model_id: string | null;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly total_tokens: number | null;
  readonly spend: number | null;
  readonly cost_status: string;
  readonly usage_source: string | null;
  readonly completionStartTime: string | null;
  readonly request_tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly end_user: string | null;
}

/** The OpenAI SDK, pointed at the gateway. It never tries twice. */
export function openaiClient(
  gateway: GatewayProcess,
  options: { apiKey?: string; fetch?: typeof fetch } = {},
): OpenAI {
  return new OpenAI({
    apiKey: gateway.masterKey,
    ...options,
    baseURL: `${gateway.publicUrl}/v1`,
    maxRetries: 0,
  });
}

/** Sends a chat request. A string is sent as it is. */
export function chat(
  gateway: GatewayProcess,
  body: unknown,
  init: RequestInit = {},
): Promise<Response> {
  return fetch(`${gateway.publicUrl}/v1/chat/completions`, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
    headers: {
      authorization: `Bearer ${gateway.masterKey}`,
      "content-type": "application/json",
      ...init.headers,
    },
  });
}

/** Rows by a query, newest first. */
export async function spendRows(
  gateway: GatewayProcess,
  query: Readonly<Record<string, string>>,
): Promise<SpendRow[]> {
  const response = await fetch(
    `${gateway.publicUrl}/spend/logs?${String(new URLSearchParams(query))}`,
    {
      headers: { authorization: `Bearer ${gateway.masterKey}` },
    },
  );
  if (!response.ok)
    throw new Error(`GET /spend/logs answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as SpendRow[];
}

/** The rows of one request, as soon as there are any. */
export function rowsOf(
  gateway: GatewayProcess,
  requestId: string | null | undefined,
): Promise<SpendRow[]> {
  if (requestId === null || requestId === undefined)
    throw new Error("The response has no x-request-id.");
  return eventually(`rows of ${requestId}`, async () => {
    const rows = await spendRows(gateway, { request_id: requestId });
    return rows.length > 0 && rows;
  });
}

/** Asks the admin listener. */
export function admin(
  gateway: GatewayProcess,
  path: string,
  body?: unknown,
  key = gateway.masterKey,
): Promise<Response> {
  return fetch(`${gateway.adminUrl}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** A key or team as it is stored: without what its budget has seen. */
export function recordOf(info: unknown): Record<string, unknown> {
  const {
    spend: _spend,
    budget_remaining: _remaining,
    budget_reset_at: _resetAt,
    ...record
  } = info as Record<string, unknown>;
  return record;
}

/** A new virtual key with these fields. */
export async function createKey(
  gateway: GatewayProcess,
  fields: object,
): Promise<{ key: string; token_id: string }> {
  const response = await admin(gateway, "/key/generate", fields);
  if (!response.ok)
    throw new Error(`POST /key/generate answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as { key: string; token_id: string };
}

/** An attempt to apply a configuration. */
export interface Attempt {
  readonly outcome: string;
  readonly at: string;
  readonly digest: string | null;
  readonly generation: number | null;
  readonly findings: readonly {
    file: string;
    line: number;
    column: number;
    message: string;
    fix: string;
    text: string;
  }[];
}

/** `GET /config/status`, as far as the tests look. */
export interface ConfigStatus {
  readonly live: {
    readonly generation: number;
    readonly digest: string;
    readonly origin: string;
    readonly contents_of: number | null;
  };
  readonly drift: {
    readonly files_differ: boolean;
    readonly files: readonly { path: string; change: string }[];
  };
  readonly last_attempt: Attempt;
  readonly draining: readonly { readonly generation: number; readonly leases: number }[];
}

export async function configStatus(gateway: GatewayProcess): Promise<ConfigStatus> {
  return (await (await admin(gateway, "/config/status")).json()) as ConfigStatus;
}

/** `POST /config/<action>`: an attempt, or another answer of these routes. */
export async function configPost(
  gateway: GatewayProcess,
  action: string,
  body: object = {},
): Promise<Attempt> {
  const response = await admin(gateway, `/config/${action}`, body);
  if (!response.ok)
    throw new Error(`POST /config/${action} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Attempt;
}
