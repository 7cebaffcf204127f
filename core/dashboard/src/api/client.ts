/** Requests to the admin listener, by the cookie of the session. Paths are relative to `/ui/`. */

import { ApiError, readFailure, UNSURE } from "./api-error.ts";

const DEADLINE_MS = 15_000;
/** Answers that are kept to be compared by their `etag`. */
const MAX_KEPT = 40;

/** Parameters of a query; those without a value are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** What a request needs besides its path. */
export interface SendOptions {
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
  /** A header of answers that the caller takes whatever their status is. */
  readonly takesAny?: string;
}

interface Kept {
  readonly etag: string;
  readonly value: unknown;
}

const kept = new Map<string, Kept>();
let csrf = "";
let confirmation = "";
let onSignedOut: () => void = () => undefined;

/** Sets what proves to the gateway that a change comes from this page. */
export function setCsrf(value: string): void {
  csrf = value;
}

/** Sets what proves that the key of the session was entered again, for some minutes. */
export function setConfirmation(value: string): void {
  confirmation = value;
}

/** Sets what runs when an answer says that the session is over. */
export function whenSignedOut(run: () => void): void {
  onSignedOut = run;
}

/** Forgets the answers that are kept. */
export function forgetAnswers(): void {
  kept.clear();
}

/** A path with its query. */
export function pathOf(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== "") parameters.set(name, String(value));
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Reads. The same value is returned while the gateway answers that it did not change. */
export async function get<Answer>(
  path: string,
  query: Query = {},
  options: SendOptions = {},
): Promise<Answer> {
  const address = pathOf(path, query);
  const before = kept.get(address);
  const headers: Record<string, string> =
    before === undefined ? {} : { "if-none-match": before.etag };
  const response = await send(address, { method: "GET", headers }, options);
  if (response.status === 304 && before !== undefined) return before.value as Answer;
  const value = await read<Answer>(response, false, options);
  const etag = response.headers.get("etag");
  kept.delete(address);
  if (etag !== null) kept.set(address, { etag, value });
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  return value;
}

/** Changes something. Never repeated by itself. */
export async function post<Answer>(
  path: string,
  body: object = {},
  options: SendOptions = {},
): Promise<Answer> {
  const response = await change("POST", path, body, options);
  return read<Answer>(response, true, options);
}

/** Puts something in the place of another. Never repeated by itself. */
export async function put<Answer>(
  path: string,
  body: object,
  options: SendOptions = {},
): Promise<Answer> {
  const response = await change("PUT", path, body, options);
  return read<Answer>(response, true, options);
}

/** A change whose answer the caller reads, such as a stream. */
export function change(
  method: "POST" | "PUT" | "DELETE",
  path: string,
  body: object = {},
  options: SendOptions = {},
): Promise<Response> {
  const headers = {
    "content-type": "application/json",
    "x-sluice-csrf": csrf,
    ...(confirmation !== "" && { "x-sluice-confirmation": confirmation }),
  };
  return send(path, { method, headers, body: JSON.stringify(body) }, options);
}

/** Reads the JSON of an answer. One that is cut, or another's, does not say what happened. */
async function read<Answer>(
  response: Response,
  isChange: boolean,
  { signal }: SendOptions,
): Promise<Answer> {
  try {
    return (await response.json()) as Answer;
  } catch (error) {
    if (signal?.aborted === true) throw error;
    const what = "The answer is cut, or is not the gateway's.";
    throw new ApiError("no-answer", isChange ? what + UNSURE : what);
  }
}

async function send(path: string, init: RequestInit, options: SendOptions): Promise<Response> {
  const { signal, deadlineMs = DEADLINE_MS, takesAny } = options;
  const deadline = AbortSignal.timeout(deadlineMs);
  let response: Response;
  try {
    response = await fetch(`..${path}`, {
      ...init,
      cache: "no-store",
      credentials: "same-origin",
      redirect: "error",
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw noAnswer(init.method !== "GET", deadline.aborted);
  }
  if (response.ok || response.status === 304) return response;
  if (takesAny !== undefined && response.headers.has(takesAny)) return response;
  const failure = await readFailure(response, init.method !== "GET");
  if (failure.kind === "signed-out" && !path.startsWith("/ui/session")) onSignedOut();
  throw failure;
}

function noAnswer(isChange: boolean, isLate: boolean): ApiError {
  const what = isLate ? "The gateway did not answer in time." : "The gateway cannot be reached.";
  return new ApiError("no-answer", isChange ? what + UNSURE : what);
}
