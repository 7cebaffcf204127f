/**
 * The admin listener of several workers: one address, which asks one of them or all and puts the
 * answers together.
 */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { errorBody, GatewayError, isGatewayError, type Log } from "@sluice/contract";
import { parseJson } from "@sluice/kit";
import { PROMETHEUS_TYPE } from "../../telemetry/prometheus.ts";
import { readBody } from "../../http/ingress/bytes/body.ts";
import {
  type Answer,
  ask,
  askAll,
  askAny,
  askFirst,
  askFirstAndOthers,
  type Question,
  type Questions,
  responsive,
  type WorkerAddress,
} from "./ask-workers.ts";
import { forwardingHeaders, isForwardingHeader } from "../../http/access/forwarded.ts";
import { missingWorkers, overviewOf } from "../../http/admin/overview/join.ts";
import type { OverviewPart } from "../../http/admin/overview/part.ts";
import { joinDeploymentPages, joinDeployments } from "./join-deployments.ts";
import { joinGuardrails } from "./join-guardrails.ts";
import { joinSystem } from "./join-system.ts";
import { joinModels } from "./join-models.ts";
import { joinPipelines } from "./join-pipelines.ts";
import { joined, joinMetrics, oneOfThem } from "./join-answers.ts";
import { relay } from "./relay.ts";
import { joinRequests, placeOfCursor } from "../../http/admin/request-page.ts";
import { type BrowserSettings, browserPlace } from "../../http/ui/browser-place.ts";
import { etagOf, matchesTag } from "../../http/ui/etag.ts";
import { answerFile, fileRequest, isUiPath } from "../../http/ui/files.ts";
import { joinAttempts, joinStatus, joinWrite, type SupervisorInfo } from "./join-config.ts";

/** The parts of the supervisor that the listener needs. */
export interface WorkersParts {
  readonly log: Log;
  /** The configured number of workers. */
  readonly size: number;
  /** The supervisor's part of the status. */
  readonly supervisor: () => SupervisorInfo;
  /** Authenticates the master key when no worker can. Rejects with the refusal. */
  readonly authenticate: (headers: Question["headers"]) => Promise<void>;
  /** Whether the configuration is in the store. */
  readonly isStored: boolean;
  /** What `Host` may name. */
  readonly browser: BrowserSettings;
  /** Proves to a worker that a request is passed on: `supervisorProof`. */
  readonly proof: string;
  /** The workers that take requests, the oldest first. */
  readonly serving: () => readonly WorkerAddress[];
  /** The serving workers, and those that still finish requests. */
  readonly alive: () => readonly WorkerAddress[];
  /** Replaces every worker. Resolves with the outcome. */
  readonly restart: () => Promise<unknown>;
  /** Runs an edit between restarts. Rejects with `overloaded` when that takes too long. */
  readonly between: <T>(edit: () => Promise<T>) => Promise<T>;
  /** Resolves once no worker believes any more what it had looked up about keys and teams. */
  readonly forget: () => Promise<void>;
  /** The supervisor's own metrics of the workers. */
  readonly metrics: () => string;
}

/** Headers of every answer that the supervisor itself gives. */
const OWN_HEADERS = [
  "content-type",
  "application/json",
  "x-content-type-options",
  "nosniff",
  "cache-control",
  "no-store",
];

const BODY_LIMITS = { maxBytes: 1024 * 1024, deadlineMs: 10_000 };
/**
 * Headers between two hops are not the workers' to see, nor the lengths of a body that is read
 * whole.
 */
const HOP = new Set([
  "connection",
  "host",
  "transfer-encoding",
  "content-length",
  "keep-alive",
  "expect",
  "upgrade",
  // The supervisor compares the joined answer.
  "if-none-match",
]);
const KEPT = [
  "content-type",
  "x-content-type-options",
  "x-request-id",
  "cache-control",
  "allow",
  "retry-after",
  "www-authenticate",
  "set-cookie",
  "clear-site-data",
];

/** Answers requests to the admin listener. */
export function createWorkersListener(parts: WorkersParts): RequestListener {
  return (request, response) => {
    serve(request, response, parts).catch((error: unknown) => {
      const known = isGatewayError(error);
      if (!known) parts.log.error("an admin request failed", { error });
      const failure = known
        ? error
        : new GatewayError("overloaded", "No worker can answer now. Retry in a second.", {
            retryAfterMs: 1_000,
          });
      if (response.headersSent) response.destroy();
      else writeFailure(response, failure);
    });
  };
}

function writeFailure(response: ServerResponse, failure: GatewayError): void {
  const { retryAfterMs } = failure;
  const retryAfter =
    retryAfterMs === undefined
      ? []
      : ["retry-after", String(Math.max(1, Math.ceil(retryAfterMs / 1_000)))];
  const others = Object.entries(failure.headers ?? {}).flat();
  response
    .writeHead(failure.status, [...OWN_HEADERS, ...retryAfter, ...others])
    .end(JSON.stringify(errorBody(failure)));
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  parts: WorkersParts,
): Promise<void> {
  const { method = "GET", url = "/" } = request;
  const place = browserPlace(request, parts.browser);
  const path = url.split("?", 1)[0] ?? "/";
  if (isUiPath(path)) {
    const file = await answerFile(fileRequest(request, path));
    response.writeHead(file.status, file.headers).end(method === "HEAD" ? undefined : file.body);
    return;
  }
  const address = request.socket.remoteAddress ?? null;
  const isRead = method === "GET" || method === "HEAD";
  const body = isRead ? undefined : await readBody(request, BODY_LIMITS);
  const headers = Object.entries(request.headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  const question: Question = {
    method: askedMethod(method),
    path,
    url,
    headers: {
      ...Object.fromEntries(
        headers.filter(([name]) => !HOP.has(name) && !isForwardingHeader(name)),
      ),
      ...forwardingHeaders(parts.proof, { address, isAudited: false, isMaster: false, place }),
    },
    address,
    body: body === undefined || body.length === 0 ? undefined : Buffer.from(body),
  };
  if (method === "POST" && path.startsWith("/playground/"))
    return relay(workerOf(parts), question, response);
  const answer = await answerTo(question, parts);
  const kept = KEPT.flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const tag = isRead && answer.status === 200 ? etagOf(answer.text) : undefined;
  const isSame = tag !== undefined && matchesTag(request.headers["if-none-match"], tag);
  response
    .writeHead(isSame ? 304 : answer.status, {
      ...Object.fromEntries(kept),
      ...(tag !== undefined && { etag: tag }),
    })
    .end(isSame || method === "HEAD" ? undefined : answer.text);
}

/**
 * A HEAD is a GET whose body stays behind. `fetch` sends no TRACE, which has no route, as PATCH has
 * none.
 */
function askedMethod(method: string): string {
  if (method === "HEAD") return "GET";
  return method === "TRACE" ? "PATCH" : method;
}

/** The client's answer. */
type Reply = Pick<Answer, "status" | "headers" | "text">;

async function answerTo(question: Question, parts: WorkersParts): Promise<Reply> {
  const { method, path } = question;
  if (method === "GET" && path === "/config/status") return lookAtStatus(question, parts);
  if (method === "GET" && path === "/metrics") return lookAtMetrics(question, parts);
  if (method === "POST" && path === "/restart") return restart(question, parts);
  const first = workerOf(parts);
  if (method === "GET") return look(question, parts);
  if (/^\/config\/(?:reload|rollback)$/.test(path)) {
    return parts.between(async () => {
      const asked = parts.serving();
      const asks = questionsOf(question, parts, false);
      return joinAttempts(asked, await askFirstAndOthers(responsive(asked), asks));
    });
  }
  if (method === "PUT" && path === "/config/files" && !parts.isStored)
    return parts.between(async () => {
      const asked = parts.serving();
      const asks = { ...questionsOf(question, parts, false), others: reloadAfter(question, parts) };
      return joinWrite(asked, await askFirstAndOthers(responsive(asked), asks));
    });
  if (/^\/config\/canary\/\w+$/.test(path)) {
    return parts.between(async () => {
      const asked = parts.serving();
      const asks = questionsOf(question, parts, true);
      return joinAttempts(asked, await askFirstAndOthers(responsive(asked), asks));
    });
  }
  // The other workers read it in the store, as other instances do.
  if (path.startsWith("/fleet/") || path === "/config/files")
    return parts.between(() => ask(first, question));
  // Each worker has learnt of its own what it thinks of a deployment.
  if (/^\/deployments\/.+\/(?:reset|hold|release)$/.test(path))
    return oneOfThem(await askFirstAndOthers(parts.alive(), questionsOf(question, parts, true)));
  const answer = await ask(first, question);
  // An extension's routes change keys under paths of their own.
  if (answer.status < 300 && !/^\/(?:config|deployments|fleet)\//.test(path)) await parts.forget();
  return answer;
}

/** A worker that answers. Throws `overloaded`. */
function workerOf(parts: WorkersParts): WorkerAddress {
  const serving = parts.serving();
  const [first] = responsive(serving);
  if (first !== undefined) return first;
  const message =
    serving.length === 0
      ? "No worker is ready. Retry in a second."
      : `No worker answers: ${namesOf(serving)}.`;
  throw new GatewayError("overloaded", message, { retryAfterMs: 1_000 });
}

async function look(question: Question, parts: WorkersParts): Promise<Reply> {
  const { path } = question;
  const serving = responsive(parts.serving());
  if (path === "/deployments") return joined(await askAll(serving, question), joinDeployments);
  if (path.startsWith("/deployments/"))
    return joined(await askAll(serving, question), joinDeploymentPages);
  if (path === "/guardrails/report") return joined(await askAll(serving, question), joinGuardrails);
  if (path === "/system")
    return joined(await askAll(responsive(parts.alive()), question), joinSystem);
  if (path === "/models") return joined(await askAll(serving, question), joinModels);
  if (path === "/pipelines") return joined(await askAll(serving, question), joinPipelines);
  if (path === "/overview")
    return joined(await askAll(responsive(parts.alive()), question), (values) =>
      overviewOf(
        values.map(({ value }) => value as unknown as OverviewPart),
        missingWorkers(parts.size, serving.length),
      ),
    );
  if (path === "/requests") {
    const after = placeOfCursor(
      new URLSearchParams(question.url.split("?")[1]).get("cursor") ?? "",
    );
    return joined(await askAll(responsive(parts.alive()), question), (values) =>
      joinRequests(values, after),
    );
  }
  if (path.startsWith("/requests/"))
    return oneOfThem(await askAll(responsive(parts.alive()), question));
  return askAny(serving, question);
}

/** The questions of a change that all workers make: one of them writes the line of the audit. */
function questionsOf(first: Question, { proof }: WorkersParts, isForAll: boolean): Questions {
  const { address, headers } = first;
  const said = forwardingHeaders(proof, { address, isAudited: true, isMaster: false });
  return { first, others: { ...first, headers: { ...headers, ...said } }, isForAll };
}

/** One worker has written the files. The others read them again. */
function reloadAfter(written: Question, parts: WorkersParts): Question {
  const { force, canary, author } = parseJson(String(written.body)) as Record<string, unknown>;
  const { others } = questionsOf(written, parts, false);
  const path = "/config/reload";
  const body = Buffer.from(JSON.stringify({ force, canary, author }));
  return { ...others, method: "POST", path, url: path, body };
}

/** An answer also where no worker gives one. */
async function lookAtStatus(question: Question, parts: WorkersParts): Promise<Reply> {
  const serving = parts.serving();
  const facts = { expected: parts.size, supervisor: parts.supervisor() };
  const answers = await askAll(responsive(serving), question).catch(() => undefined);
  if (answers !== undefined) return joined(answers, (values) => joinStatus(values, serving, facts));
  await parts.authenticate(question.headers);
  return ownReply("application/json", JSON.stringify(joinStatus([], serving, facts)));
}

async function lookAtMetrics(question: Question, parts: WorkersParts): Promise<Reply> {
  const answers = await askAll(responsive(parts.alive()), question).catch(() => undefined);
  if (answers !== undefined) return joinMetrics(answers, parts.metrics());
  await parts.authenticate(question.headers);
  return ownReply(PROMETHEUS_TYPE, parts.metrics());
}

/**
 * A worker says whether the caller may restart, and records it. Where none answers, the master key
 * restarts: the workers need not answer, they are replaced.
 */
async function restart(question: Question, parts: WorkersParts): Promise<Reply> {
  const refusal = await parts.authenticate(question.headers).then(
    () => undefined,
    (error: unknown) => error,
  );
  const { address } = question;
  const said = { address, isAudited: false, isMaster: refusal === undefined };
  const answer = await askFirst(responsive(parts.serving()), {
    ...question,
    headers: { ...question.headers, ...forwardingHeaders(parts.proof, said) },
  });
  if (answer === undefined && refusal !== undefined) throw refusal;
  if (answer !== undefined && answer.status !== 200) return answer;
  return ownReply("application/json", JSON.stringify(await parts.restart()));
}

function ownReply(type: string, text: string): Reply {
  return {
    status: 200,
    headers: new Headers({ "content-type": type, "cache-control": "no-store" }),
    text,
  };
}

function namesOf(workers: readonly WorkerAddress[]): string {
  return workers.map(({ number, pid }) => `worker ${number} (pid ${pid})`).join(", ");
}
