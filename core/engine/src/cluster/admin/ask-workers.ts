/** Asking workers: a request to the one admin address is passed on to one of them, or to all. */

import { GatewayError } from "@sluice/contract";

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
      : path.startsWith("/config/")
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
  return askAny(workers, { method: "GET", path, url: path, headers, body: undefined });
}

/**
 * Whether a worker lets the sender of these headers read what only a master key reads. False where
 * none answers.
 */
export async function mayAdminister(
  workers: readonly WorkerAddress[],
  headers: Question["headers"],
): Promise<boolean> {
  const path = "/config/history";
  const answer = await askAny(workers, {
    method: "GET",
    path,
    url: path,
    headers,
    body: undefined,
  }).catch(() => undefined);
  return answer?.status === 200;
}

/**
 * The first makes a generation, and the others, all at once, find it in the history. What the first
 * refuses is wrong for all.
 */
export async function askFirstAndOthers(
  workers: readonly WorkerAddress[],
  question: Question,
): Promise<Answers> {
  for (const [index, worker] of workers.entries()) {
    const first = await ask(worker, question).catch(() => undefined);
    if (first === undefined) continue;
    if (first.status !== 200 || isRefusal(first)) return [first];
    const others = workers.slice(index + 1);
    return others.length === 0
      ? [first]
      : [first, ...(await askAll(others, question).catch(() => []))];
  }
  return atLeastOne([]);
}

function isRefusal({ text }: Answer): boolean {
  return (JSON.parse(text) as { readonly outcome?: unknown }).outcome === "refused";
}

function atLeastOne(answers: readonly Answer[]): Answers {
  const [first, ...others] = answers;
  if (first === undefined)
    throw new GatewayError("overloaded", "No worker answers.", { retryAfterMs: 1_000 });
  return [first, ...others];
}
