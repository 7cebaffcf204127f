/** Answers of several workers, put together as the one answer of the gateway. */

import { joinPages } from "../../telemetry/prometheus.ts";
import type { Answer, Answers, WorkerAddress } from "./ask-workers.ts";

/** The worker that served a request has its explanation. The others have at most its rows. */
export function oneOfThem(answers: Answers): Answer {
  const found = answers.filter(({ status }) => status === 200);
  return (
    found.find(({ text }) => (JSON.parse(text) as { source?: unknown }).source !== "ledger") ??
    found[0] ??
    answers[0]
  );
}

/** One page of metrics; `own` are those of the supervisor. */
export function joinMetrics(answers: Answers, own: string): Answer {
  const refused = answers.find(({ status }) => status !== 200);
  if (refused !== undefined) return refused;
  const pages = new Map(answers.map(({ worker, text }) => [String(worker.number), text]));
  return { ...answers[0], text: `${joinPages(pages)}\n${own}` };
}

/** The answer of each worker. */
export type Values = readonly {
  readonly worker: WorkerAddress;
  readonly value: Record<string, unknown>;
}[];

/** Joins JSON answers. A failure is the joined answer. */
export function joined(answers: Answers, join: (values: Values) => unknown): Answer {
  const refused = answers.find(({ status }) => status !== 200);
  if (refused !== undefined) return refused;
  const values = answers.map(({ worker, text }) => ({
    worker,
    value: JSON.parse(text) as Record<string, unknown>,
  }));
  return withValue(answers[0], join(values));
}

/** The same answer with another value. */
export function withValue(answer: Answer, value: unknown): Answer {
  return { ...answer, text: JSON.stringify(value) };
}

interface Deployment {
  readonly deployment: string;
  readonly health: string;
  readonly breaker: keyof typeof BREAKERS;
  readonly ejected_until: string | null;
  readonly credential_refused: boolean;
  readonly ejected_models: readonly { readonly model: string; readonly operation: string }[];
  readonly ejections: number;
  readonly consecutive_failures: number;
  readonly in_flight: number;
  readonly queued: number;
  readonly tokens: {
    readonly limit: number;
    readonly reserved: number;
    readonly spent: number;
  } | null;
  readonly latency_ms: number | null;
  readonly attempts: Readonly<Record<"total" | "success" | "failure" | "other", number>>;
}

const BREAKERS = { closed: 0, half_open: 1, open: 2 } as const;

/** Each deployment once: counts are sums, health is that of the worker that likes it least. */
export function joinDeployments(values: Values): unknown {
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
  const sum = (valueOf: (view: Deployment) => number): number =>
    views.reduce((total, view) => total + valueOf(view), 0);
  const timed = views.filter(({ latency_ms: latencyMs }) => latencyMs !== null);
  const latencyMs = timed.reduce((total, view) => total + (view.latency_ms ?? 0), 0) / timed.length;
  return {
    ...worst,
    credential_refused: views.some(({ credential_refused: isRefused }) => isRefused),
    ejected_models: [
      ...new Map(
        views.flatMap(({ ejected_models: models }) =>
          models.map((one) => [`${one.operation} ${one.model}`, one]),
        ),
      ).values(),
    ],
    ejections: sum(({ ejections }) => ejections),
    in_flight: sum(({ in_flight: inFlight }) => inFlight),
    queued: sum(({ queued }) => queued),
    tokens:
      worst?.tokens == null
        ? null
        : {
            limit: worst.tokens.limit,
            reserved: sum(({ tokens }) => tokens?.reserved ?? 0),
            spent: sum(({ tokens }) => tokens?.spent ?? 0),
          },
    latency_ms: timed.length === 0 ? null : Math.round(latencyMs * 10) / 10,
    attempts: {
      total: sum(({ attempts }) => attempts.total),
      success: sum(({ attempts }) => attempts.success),
      failure: sum(({ attempts }) => attempts.failure),
      other: sum(({ attempts }) => attempts.other),
    },
  };
}
