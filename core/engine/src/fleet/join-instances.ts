/** Joins the reports of processes to instances, and says whether they run one configuration. */

import type { InstanceRecord, RefusedContents } from "@sluice/contract";

/** An instance: a gateway with all its workers. */
export interface Instance extends Omit<InstanceRecord, "worker" | "workers" | "state"> {
  /** `gone`: no process of it was seen for some time. */
  readonly state: InstanceRecord["state"] | "gone";
  readonly workers: {
    readonly expected: number;
    readonly serving: number;
    /** Whether the serving workers run the same contents. */
    readonly agree: boolean;
  };
}

/** Reports that an instance may miss before it is gone. */
const MISSED_REPORTS = 4;
/** The least time without a report, for stores that ask for many. */
const MIN_GONE_MS = 20_000;

/** The time without a report after which an instance is gone. */
export function goneAfterMs(reportEveryMs: number): number {
  return Math.max(MIN_GONE_MS, MISSED_REPORTS * reportEveryMs);
}

/** The instances in the order of their names. `nowMs` is of the store's clock. */
export function joinInstances(
  records: readonly InstanceRecord[],
  nowMs: number,
  reportEveryMs: number,
): readonly Instance[] {
  const goneMs = goneAfterMs(reportEveryMs);
  const byId = Map.groupBy(records, ({ id }) => id);
  return [...byId.values()]
    .map((processes) => instanceOf(processes, nowMs - goneMs))
    .toSorted((left, right) =>
      left.name === right.name ? compare(left.id, right.id) : compare(left.name, right.name),
    );
}

/** Whether all instances that are not gone run the same contents. */
export function doAgree(instances: readonly Instance[]): boolean {
  const alive = instances.filter(({ state }) => state !== "gone");
  return (
    new Set(alive.map(({ contents }) => contents)).size <= 1 &&
    alive.every(({ workers }) => workers.agree)
  );
}

/** One that was seen before `goneBeforeMs` is gone. Of its processes, those that serve count. */
function instanceOf(processes: readonly InstanceRecord[], goneBeforeMs: number): Instance {
  const seen = processes.toSorted((left, right) => right.seenAtMs - left.seenAtMs);
  const alive = seen.filter(({ seenAtMs }) => seenAtMs >= goneBeforeMs);
  const serving = alive.filter(({ state }) => state === "serving");
  const [shown] = [...serving, ...alive, ...seen];
  if (shown === undefined) throw new Error("an instance has a report");
  const { worker: _worker, workers, ...common } = shown;
  const behind = serving.find(({ contents }) => contents !== shown.contents);
  return {
    ...common,
    adminUrl: seen.find(({ adminUrl }) => adminUrl !== null)?.adminUrl ?? null,
    state: alive.length === 0 ? "gone" : shown.state,
    refused: firstRefusal([...(behind === undefined ? [] : [behind]), ...serving, shown]),
    workers: { expected: workers, serving: serving.length, agree: behind === undefined },
  };
}

function firstRefusal(records: readonly InstanceRecord[]): RefusedContents | null {
  return records.find(({ refused }) => refused !== null)?.refused ?? null;
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
