/** Asking workers: a request to the one admin address is passed on to one of them, or to all. */

import { GatewayError } from "@sluice/contract";
import { parseJson } from "@sluice/kit";

/** A worker that serves. */
export interface WorkerAddress {
  readonly number: number;
  readonly pid: number;
  /** Its own admin listener, reached from this machine alone. */
  readonly adminUrl: string;
  /** For how long its event loop has sent no sign, in milliseconds. */
  readonly silentMs?: number;
  /**
   * The code that holds its event loop, as `run (file:///srv/plugins/mine.ts:44)`, where it is
   * known.
   */
  readonly heldBy?: string | undefined;
  /** The reason why it does not run the others' generation, if it reported one. */
  readonly differs?: string | undefined;
}

/** The forwarded request. */
export interface Question {
  readonly method: string;
  readonly path: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer<ArrayBuffer> | undefined;
  /** The address of the client; `null` when it is gone. */
  readonly address: string | null;
}

/** A worker's answer. */
export interface Answer {
  readonly worker: WorkerAddress;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** At least one answer. */
export type Answers = readonly [Answer, ...Answer[]];

/**
 * The time limit of a read. A worker that exceeds it is blocked; the caller gets the answers of the
 * others.
 */
const LOOK_TIMEOUT_MS = 4_000;
const CHANGE_TIMEOUT_MS = 14_000;
/** An edit is checked and tested before it is applied. */
const EDIT_TIMEOUT_MS = 30_000;

/**
 * A worker without a heartbeat for this time gets no request: its answer would arrive after the
 * caller's deadline.
 */
const SILENT_MS = 2_500;

/** The workers whose event loop runs. */
export function responsive(workers: readonly WorkerAddress[]): readonly WorkerAddress[] {
  return workers.filter(({ silentMs = 0 }) => silentMs < SILENT_MS);
}

/** One worker's answer. Rejects at the deadline. */
export async function ask(
  worker: WorkerAddress,
  { method, path, url, headers, body }: Question,
): Promise<Answer> {
  const timeoutMs =
    method === "GET"
      ? LOOK_TIMEOUT_MS
      : /^\/(?:config|fleet)\//.test(path)
        ? EDIT_TIMEOUT_MS
        : CHANGE_TIMEOUT_MS;
  const response = await fetch(`${worker.adminUrl}${url}`, {
    method,
    headers,
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
    ...(body !== undefined && { body }),
  });
  return {
    worker,
    status: response.status,
    headers: response.headers,
    text: await response.text(),
  };
}

/**
 * The answers of all workers that answer, in their order: a worker may end or hang at any moment.
 * Throws without any answer.
 */
export async function askAll(
  workers: readonly WorkerAddress[],
  question: Question,
): Promise<Answers> {
  const settled = await Promise.allSettled(workers.map((worker) => ask(worker, question)));
  return atLeastOne(
    settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])),
  );
}

/** The first answer of a worker. Throws when no worker answers. */
export async function askAny(
  workers: readonly WorkerAddress[],
  question: Question,
): Promise<Answer> {
  return Promise.any(workers.map((worker) => ask(worker, question))).catch(() => atLeastOne([])[0]);
}

/** The first answer of any worker, for the supervisor itself. Throws when none answers. */
export async function lookAt(
  workers: readonly WorkerAddress[],
  path: string,
  masterKey: string,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${masterKey}` };
  return askAny(workers, {
    method: "GET",
    path,
    url: path,
    headers,
    body: undefined,
    address: null,
  });
}

/** The answer of the first worker that answers; `undefined` without one. */
export async function askFirst(
  workers: readonly WorkerAddress[],
  question: Question,
): Promise<Answer | undefined> {
  for (const worker of workers) {
    const answer = await ask(worker, question).catch(() => undefined);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/** A question as the other workers get it: the first has written its line of the audit. */
export interface Questions {
  readonly first: Question;
  readonly others: Question;
  /** Whether the others are asked after a refusal of the first. */
  readonly isForAll: boolean;
}

/**
 * The first makes a generation, and the others, all at once, find it in the history. What the first
 * refuses is wrong for all, unless the question is for all: each worker has its own state.
 */
export async function askFirstAndOthers(
  workers: readonly WorkerAddress[],
  { first: question, others: repeated, isForAll }: Questions,
): Promise<Answers> {
  const first = await askFirst(workers, question);
  if (first === undefined) return atLeastOne([]);
  if (isForAll ? isForbidden(first) : first.status !== 200 || isRefusal(first)) return [first];
  const others = workers.slice(workers.indexOf(first.worker) + 1);
  return others.length === 0
    ? [first]
    : [first, ...(await askAll(others, repeated).catch(() => []))];
}

/** The caller may not ask, or what is asked cannot be recorded. */
function isForbidden({ status }: Answer): boolean {
  return status === 401 || status === 403 || status >= 500;
}

function isRefusal({ text }: Answer): boolean {
  return (parseJson(text) as { readonly outcome?: unknown }).outcome === "refused";
}

function atLeastOne(answers: readonly Answer[]): Answers {
  const [first, ...others] = answers;
  if (first === undefined)
    throw new GatewayError("overloaded", "No worker answers.", { retryAfterMs: 1_000 });
  return [first, ...others];
}
