/** The admin listener of several workers: one address, which asks one of them or all and puts the answers together. */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { errorBody, GatewayError, isGatewayError, type Log } from "@sluice/spec";
import { isObject } from "@sluice/kit";
import { joinPages } from "../../telemetry/prometheus.ts";
import { readBody } from "../ingress/body.ts";

/** A worker that serves. */
export interface WorkerAddress {
  readonly number: number;
  readonly pid: number;
  /** Its own admin listener, reached from this machine alone. */
  readonly adminUrl: string;
}

/** What the listener needs of the process that supervises. */
export interface WorkersParts {
  readonly log: Log;
  /** The workers that take requests, the oldest first. */
  readonly workers: () => readonly WorkerAddress[];
  /** Replaces every worker, and says how it went. */
  readonly restart: () => Promise<unknown>;
}

interface Question {
  readonly method: string;
  readonly path: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer<ArrayBuffer> | undefined;
}

interface Answer {
  readonly worker: WorkerAddress;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const BODY_LIMITS = { maxBytes: 1024 * 1024, deadlineMs: 10_000 };
const ANSWER_TIMEOUT_MS = 14_000;
/** Headers between two hops are not the workers' to see, nor the lengths of a body that is read whole. */
const HOP = new Set(["connection", "host", "transfer-encoding", "content-length", "keep-alive", "expect", "upgrade"]);
const KEPT = ["content-type", "x-request-id", "cache-control", "allow", "retry-after", "www-authenticate"];

/** Answers requests to the admin listener. */
export function createWorkersListener(parts: WorkersParts): RequestListener {
  return (request, response) => {
    serve(request, response, parts).catch((error: unknown) => {
      const known = isGatewayError(error);
      if (!known) parts.log.error("an admin request failed", { error });
      const failure = known
        ? error
        : new GatewayError("overloaded", "No worker can answer at the moment.", { retryAfterMs: 1_000 });
      if (response.headersSent) response.destroy();
      else response.writeHead(failure.status, { "content-type": "application/json" }).end(JSON.stringify(errorBody(failure)));
    });
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, parts: WorkersParts): Promise<void> {
  const { method = "GET", url = "/" } = request;
  const path = url.split("?", 1)[0] ?? "/";
  const body = method === "POST" ? await readBody(request, BODY_LIMITS) : undefined;
  const headers = Object.entries(request.headers).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const question: Question = {
    method,
    path,
    url,
    headers: Object.fromEntries(headers.filter(([name]) => !HOP.has(name))),
    body: body === undefined || body.length === 0 ? undefined : Buffer.from(body),
  };
  const answer = await answerTo(question, parts);
  const kept = KEPT.flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  response.writeHead(answer.status, Object.fromEntries(kept)).end(answer.text);
}

async function answerTo(question: Question, parts: WorkersParts): Promise<Answer> {
  const { method, path } = question;
  const workers = parts.workers();
  const [first] = workers;
  if (first === undefined) throw new GatewayError("overloaded", "No worker is ready.", { retryAfterMs: 1_000 });
  if (method === "POST" && path === "/restart") {
    // The workers know the master key.
    const allowed = await ask(first, { ...question, method: "GET", url: "/config/status", body: undefined });
    return allowed.status === 200 ? withValue(allowed, await parts.restart()) : allowed;
  }
  if (method === "GET" && path === "/metrics") return joinMetrics(await askAll(workers, question));
  if (method === "GET" && path === "/deployments") return joined(await askAll(workers, question), joinDeployments);
  if (method === "GET" && path === "/config/status") return joined(await askAll(workers, question), joinStatus);
  if (method === "GET" && path.startsWith("/requests/")) return oneOfThem(await askAll(workers, question));
  if (method === "POST" && /^\/config\/(?:reload|rollback|canary\/\w+)$/.test(path)) {
    return joined(await askInTurn(workers, question), joinAttempts);
  }
  return ask(first, question);
}

async function ask(worker: WorkerAddress, { method, url, headers, body }: Question): Promise<Answer> {
  const response = await fetch(`${worker.adminUrl}${url}`, {
    method,
    headers,
    redirect: "manual",
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    ...(body !== undefined && { body }),
  });
  return { worker, status: response.status, headers: response.headers, text: await response.text() };
}

/** The answers of all who give one: a worker may end at any moment. Throws when there is none. */
async function askAll(workers: readonly WorkerAddress[], question: Question): Promise<readonly [Answer, ...Answer[]]> {
  const settled = await Promise.allSettled(workers.map((worker) => ask(worker, question)));
  return atLeastOne(settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])));
}

/** One after the other: the first makes a generation, and the others find it in the history. */
async function askInTurn(workers: readonly WorkerAddress[], question: Question): Promise<readonly [Answer, ...Answer[]]> {
  const answers: Answer[] = [];
  for (const worker of workers) {
    const answer = await ask(worker, question).catch(() => undefined);
    if (answer !== undefined) answers.push(answer);
    // What the first refuses is wrong for all of them.
    if (answers.length === 1 && answers[0]?.status !== 200) break;
  }
  return atLeastOne(answers);
}

function atLeastOne(answers: readonly Answer[]): readonly [Answer, ...Answer[]] {
  const [first, ...others] = answers;
  if (first === undefined) throw new GatewayError("overloaded", "No worker answers.", { retryAfterMs: 1_000 });
  return [first, ...others];
}

/** What a request went through is known to the worker that served it; the others know at most its rows. */
function oneOfThem(answers: readonly [Answer, ...Answer[]]): Answer {
  const found = answers.filter(({ status }) => status === 200);
  return found.find(({ text }) => (JSON.parse(text) as { source?: unknown }).source !== "ledger") ?? found[0] ?? answers[0];
}

function joinMetrics(answers: readonly [Answer, ...Answer[]]): Answer {
  const refused = answers.find(({ status }) => status !== 200);
  if (refused !== undefined) return refused;
  return { ...answers[0], text: joinPages(new Map(answers.map(({ worker, text }) => [String(worker.number), text]))) };
}

type Values = readonly { readonly worker: WorkerAddress; readonly value: Record<string, unknown> }[];

/** Puts JSON answers together; one that is no success stands for all. */
function joined(answers: readonly [Answer, ...Answer[]], join: (values: Values) => unknown): Answer {
  const refused = answers.find(({ status }) => status !== 200);
  if (refused !== undefined) return refused;
  const values = answers.map(({ worker, text }) => ({ worker, value: JSON.parse(text) as Record<string, unknown> }));
  return withValue(answers[0], join(values));
}

function withValue(answer: Answer, value: unknown): Answer {
  return { ...answer, text: JSON.stringify(value) };
}

/** The first worker's status, and beside it who runs what. */
function joinStatus(values: Values): unknown {
  const workers = values.map(({ worker, value }) => {
    const live = isObject(value["live"]) ? value["live"] : {};
    return {
      worker: worker.number,
      pid: worker.pid,
      generation: live["generation"] ?? null,
      digest: live["digest"] ?? null,
      leases: live["leases"] ?? null,
    };
  });
  return {
    ...values[0]?.value,
    draining: values.flatMap(({ worker, value }) => {
      const draining = Array.isArray(value["draining"]) ? (value["draining"] as readonly object[]) : [];
      return draining.map((generation) => ({ ...generation, worker: worker.number }));
    }),
    workers_agree: new Set(workers.map(({ digest }) => digest)).size === 1,
    workers,
  };
}

/** The first worker's attempt, and beside it how it went with each. */
function joinAttempts(values: Values): unknown {
  return {
    ...values[0]?.value,
    workers: values.map(({ worker, value }) => ({
      worker: worker.number,
      outcome: value["outcome"],
      generation: value["generation"],
    })),
  };
}

interface Deployment {
  readonly deployment: string;
  readonly health: string;
  readonly breaker: keyof typeof BREAKERS;
  readonly ejected_until: string | null;
  readonly ejections: number;
  readonly consecutive_failures: number;
  readonly in_flight: number;
  readonly queued: number;
  readonly latency_ms: number | null;
  readonly attempts: Readonly<Record<"total" | "success" | "failure" | "other", number>>;
}

const BREAKERS = { closed: 0, half_open: 1, open: 2 } as const;

/** Each deployment once: counts are sums, health is that of the worker that likes it least. */
function joinDeployments(values: Values): unknown {
  const byId = new Map<string, Deployment[]>();
  for (const { value } of values) {
    for (const view of value["deployments"] as readonly Deployment[]) {
      byId.set(view.deployment, [...(byId.get(view.deployment) ?? []), view]);
    }
  }
  return { deployments: [...byId.values()].map(joinDeployment) };
}

function joinDeployment(views: readonly Deployment[]): unknown {
  const worst = views.toSorted((a, b) => BREAKERS[b.breaker] - BREAKERS[a.breaker])[0];
  const sum = (valueOf: (view: Deployment) => number): number => views.reduce((total, view) => total + valueOf(view), 0);
  const timed = views.filter(({ latency_ms: latencyMs }) => latencyMs !== null);
  const latencyMs = timed.reduce((total, view) => total + (view.latency_ms ?? 0), 0) / timed.length;
  return {
    ...worst,
    ejections: sum(({ ejections }) => ejections),
    in_flight: sum(({ in_flight: inFlight }) => inFlight),
    queued: sum(({ queued }) => queued),
    latency_ms: timed.length === 0 ? null : Math.round(latencyMs * 10) / 10,
    attempts: {
      total: sum(({ attempts }) => attempts.total),
      success: sum(({ attempts }) => attempts.success),
      failure: sum(({ attempts }) => attempts.failure),
      other: sum(({ attempts }) => attempts.other),
    },
  };
}
