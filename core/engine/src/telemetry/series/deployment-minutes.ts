/**
 * The attempts of each deployment in the last hour, by minute. They are differences of its counts,
 * read by a timer: an attempt pays nothing for them.
 */

import type { Clock } from "@sluice/contract";

const MINUTE_MS = 60_000;
/** Minutes that are kept. */
export const MINUTES = 60;
/** Deployments that are followed. Those of unused targets come and go with generations. */
const MAX_DEPLOYMENTS = 5_000;

/** The counts of a deployment since its start. */
export interface DeploymentCounts {
  readonly id: string;
  readonly successes: number;
  readonly failures: number;
  readonly others: number;
  readonly latencyMs: number | undefined;
}

/** A minute of a deployment. */
export interface DeploymentMinute {
  /** The begin, milliseconds since 1970. */
  readonly atMs: number;
  success: number;
  failure: number;
  other: number;
  /** The moving average of the time to first content at its end. */
  latencyMs: number | null;
}

interface Followed {
  last: DeploymentCounts;
  readonly minutes: DeploymentMinute[];
}

/** Keeps the minutes. `close` ends the timer. */
export class DeploymentMinutes {
  readonly #list: () => readonly DeploymentCounts[];
  readonly #clock: Pick<Clock, "now">;
  readonly #followed = new Map<string, Followed>();
  readonly #timer: NodeJS.Timeout;

  constructor(list: () => readonly DeploymentCounts[], clock: Pick<Clock, "now">) {
    this.#list = list;
    this.#clock = clock;
    this.#timer = setInterval(() => this.#sample(), MINUTE_MS / 6);
    this.#timer.unref();
  }

  /** The minutes in which a deployment had attempts, oldest first. */
  of(id: string): readonly DeploymentMinute[] {
    this.#sample();
    const fromMs = this.#clock.now() - MINUTES * MINUTE_MS;
    return (this.#followed.get(id)?.minutes ?? []).filter(({ atMs }) => atMs > fromMs);
  }

  /** The attempts of each deployment that had any within a number of minutes. */
  within(minutes: number): ReadonlyMap<string, Pick<DeploymentMinute, "success" | "failure">> {
    this.#sample();
    const fromMs = this.#clock.now() - minutes * MINUTE_MS;
    const sums = new Map<string, { success: number; failure: number }>();
    for (const [id, followed] of this.#followed) {
      const recent = followed.minutes.filter(({ atMs }) => atMs > fromMs);
      if (recent.length === 0) continue;
      const sum = { success: 0, failure: 0 };
      for (const { success, failure } of recent) {
        sum.success += success;
        sum.failure += failure;
      }
      sums.set(id, sum);
    }
    return sums;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const present = this.#list();
    const ids = new Set(present.map(({ id }) => id));
    for (const id of this.#followed.keys()) if (!ids.has(id)) this.#followed.delete(id);
    const atMs = Math.floor(this.#clock.now() / MINUTE_MS) * MINUTE_MS;
    for (const counts of present) this.#add(counts, atMs);
  }

  #add(counts: DeploymentCounts, atMs: number): void {
    const followed = this.#followed.get(counts.id);
    const { successes, failures, others, latencyMs = null } = counts;
    // A deployment that left the configuration and came back counts from zero again.
    const isNew = followed === undefined || successes < followed.last.successes;
    const last = isNew ? { successes: 0, failures: 0, others: 0 } : followed.last;
    const delta = [
      successes - last.successes,
      Math.max(0, failures - last.failures),
      Math.max(0, others - last.others),
    ] as const;
    const minutes = followed?.minutes ?? [];
    if (followed === undefined && this.#followed.size >= MAX_DEPLOYMENTS) return;
    this.#followed.set(counts.id, { last: counts, minutes });
    if (delta.every((count) => count === 0)) return;
    let minute = minutes.at(-1);
    if (minute?.atMs !== atMs) {
      minute = { atMs, success: 0, failure: 0, other: 0, latencyMs: null };
      minutes.push(minute);
      if (minutes.length > MINUTES) minutes.shift();
    }
    minute.success += delta[0];
    minute.failure += delta[1];
    minute.other += delta[2];
    minute.latencyMs = latencyMs;
  }
}
