/** Deployments of several workers as one list, and the page of one. */

import type { Values } from "./join-answers.ts";

interface Deployment {
  readonly deployment: string;
  readonly health: string;
  readonly breaker: keyof typeof BREAKERS;
  readonly ejected_until: string | null;
  readonly held_until: string | null;
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

interface DeploymentPage extends Deployment {
  readonly events: readonly { readonly at: string }[];
  readonly minutes: readonly Minute[];
}

interface Minute {
  readonly at: string;
  readonly success: number;
  readonly failure: number;
  readonly other: number;
  readonly latency_ms: number | null;
}

const MAX_EVENTS = 20;

/** The page of one deployment: the newest events of all workers, and their minutes together. */
export function joinDeploymentPages(values: Values): unknown {
  const pages = values.map(({ value }) => value as unknown as DeploymentPage);
  const events = pages
    .flatMap((page) => page.events)
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, MAX_EVENTS);
  const minutes = new Map<string, Minute>();
  for (const minute of pages.flatMap((page) => page.minutes)) {
    const other = minutes.get(minute.at);
    minutes.set(minute.at, other === undefined ? minute : joinMinutes(other, minute));
  }
  const inOrder = [...minutes.values()].sort((a, b) => (a.at < b.at ? -1 : 1));
  return { ...joinDeployment(pages), events, minutes: inOrder };
}

function joinMinutes(a: Minute, b: Minute): Minute {
  const known = [a.latency_ms, b.latency_ms].filter((latency) => latency !== null);
  const sum = known.reduce((total, latency) => total + latency, 0);
  return {
    at: a.at,
    success: a.success + b.success,
    failure: a.failure + b.failure,
    other: a.other + b.other,
    latency_ms: known.length === 0 ? null : Math.round((sum / known.length) * 10) / 10,
  };
}

function joinDeployment(views: readonly Deployment[]): object {
  const worst = views.toSorted((a, b) => BREAKERS[b.breaker] - BREAKERS[a.breaker])[0];
  const sum = (valueOf: (view: Deployment) => number): number =>
    views.reduce((total, view) => total + valueOf(view), 0);
  const timed = views.filter(({ latency_ms: latencyMs }) => latencyMs !== null);
  const latencyMs = timed.reduce((total, view) => total + (view.latency_ms ?? 0), 0) / timed.length;
  return {
    ...worst,
    held_until: views.find(({ held_until: until }) => until !== null)?.held_until ?? null,
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
