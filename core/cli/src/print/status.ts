/** Prints the status of a running gateway's configuration. */

import { byOf, type Origin, originOf } from "../commands/history.ts";
import { shortOf } from "./digest.ts";
import type { Attempt } from "./attempt.ts";
import { storeLines, type StoreStatus } from "./store-lines.ts";

/** `GET /config/status`, as far as it is printed. */
export interface Status extends StoreStatus {
  readonly live:
    | (Origin & {
        readonly since: string;
        readonly leases: number;
        readonly notices: readonly string[];
        readonly warnings?: readonly { readonly text: string }[];
      })
    | null;
  readonly drift: { readonly files: readonly { readonly path: string; readonly change: string }[] };
  readonly last_attempt: Attempt | null;
  readonly canary: CanaryStatus | null;
  readonly judged: JudgedStatus | null;
  readonly shadows: readonly Shadow[];
  readonly waiting_for_restart: readonly string[];
  readonly ledger?: {
    readonly writable: boolean;
    readonly fault: { readonly place: string; readonly text: string } | null;
    readonly store_failing: boolean;
  } | null;
  readonly previous_key?: PreviousKeyStatus | null;
  readonly workers_agree?: boolean;
  readonly version: string;
  readonly supervisor?: {
    readonly pid: number;
    readonly version: string;
    readonly is_outdated: boolean;
  };
  readonly workers_expected?: number;
  readonly workers?: readonly WorkerStatus[];
  readonly draining: readonly {
    readonly generation: number;
    readonly leases: number;
    readonly oldest_age_ms: number;
  }[];
}

interface PreviousKeyStatus {
  readonly until: string;
  readonly is_accepted: boolean;
  readonly uses: number;
  readonly last_used_at: string | null;
}

interface WorkerStatus {
  readonly worker: number;
  readonly pid: number;
  readonly answers: boolean;
  readonly generation: number | null;
  readonly digest: string | null;
  readonly leases: number | null;
  readonly canary: number | null;
  /** Why it does not run what the others run. */
  readonly differs: string | null;
  /**
   * Where it does not answer: the time since its event loop last ran, and the code that blocks it.
   */
  readonly silent_ms?: number;
  readonly held_by?: string | null;
}

interface CanaryStatus {
  readonly generation: number;
  readonly share: string;
  readonly ends_at: string;
  readonly requests: number;
  readonly errors: number;
  readonly others: { readonly requests: number; readonly errors: number };
}

interface JudgedStatus {
  readonly generation: number;
  readonly until: string;
  readonly requests: number;
  readonly errors: number;
  readonly before: { readonly requests: number; readonly errors: number };
}

interface Shadow {
  readonly pipeline: string;
  readonly step: string;
  readonly runs: number;
  readonly refused: number;
  readonly answered: number;
  readonly changed: number;
  readonly failed: number;
}

/** Prints a status. */
export function printStatus(status: Status): void {
  const { draining, judged, shadows, workers = [] } = status;
  const lines = [
    ...liveLines(status),
    ...ledgerLines(status),
    ...storeLines(status),
    ...previousKeyLines(status),
    driftLine(status),
    ...canaryLines(status),
    ...(judged === null ? [] : [judgedLine(judged)]),
    ...shadows.map(shadowLine),
    ...restartLines(status),
    ...workers.map((worker) => workerLine(worker, status.canary)),
    ...workerCountLines(status),
    ...draining.map(drainingLine),
    ...lastAttemptLines(status),
    ...versionLines(status),
  ];
  for (const line of lines) console.log(line);
}

function liveLines({ live, workers = [] }: Status): readonly string[] {
  const isAnswered = workers.length === 0 || workers.some(({ answers }) => answers);
  if (live === null) return [isAnswered ? "no generation is live" : "no worker answers"];
  const origin = `${originOf(live)}${byOf(live)}`;
  return [
    `running generation ${live.generation}${origin}, digest ${shortOf(live.digest)}, since ${live.since}, ${live.leases} in flight`,
    ...(live.reason === null ? [] : [`rolled back by itself: ${live.reason}`]),
    ...live.notices.map((notice) => `note: ${notice}`),
    ...(live.warnings ?? []).map(({ text }) => `warning: ${text}`),
  ];
}

function ledgerLines({ ledger }: Status): readonly string[] {
  if (ledger?.writable === false) {
    return [
      `spend rows cannot be stored, and requests are refused: ${ledger.fault?.text ?? "no reason is known"}`,
    ];
  }
  return ledger?.store_failing === true
    ? ["the store does not take spend rows: they wait in the outbox"]
    : [];
}

function previousKeyLines({ previous_key: key = null }: Status): readonly string[] {
  if (key === null) return [];
  const { until: end, uses, last_used_at: lastAt } = key;
  if (!key.is_accepted)
    return [`the previous master key has ended, at ${end}: remove server.admin.previous_key`];
  const used =
    lastAt === null ? "not used since the start" : `used ${uses} times, the last time at ${lastAt}`;
  return [`warning: the previous master key is accepted until ${end}; ${used}`];
}

function driftLine({ live, drift: { files } }: Status): string {
  if (live === null) return "whether the files are what runs is not known";
  if (files.length === 0) return "the files are what runs";
  return `the files differ from what runs: ${files.map(({ path, change }) => `${path} (${change})`).join(", ")}`;
}

function canaryLines({ canary }: Status): readonly string[] {
  if (canary === null) return [];
  const { generation, share, ends_at: end, requests, errors, others } = canary;
  const counts = `${errors} of ${requests} requests failed, of all others ${others.errors} of ${others.requests}`;
  return [`canary generation ${generation} for ${share} of the keys until ${end}: ${counts}`];
}

function judgedLine({ generation, until: end, requests, errors, before }: JudgedStatus): string {
  const counts = `${errors} of ${requests} requests failed, of the ${before.requests} before ${before.errors}`;
  return `generation ${generation} is watched until ${end}: ${counts}`;
}

function shadowLine({ pipeline, step, runs, refused, answered, changed, failed }: Shadow): string {
  const counts = `it would have refused ${refused}, answered ${answered}, changed ${changed}; it failed at ${failed}`;
  return `in shadow: ${step} of ${pipeline}: of ${runs} requests ${counts}`;
}

/** What waits for a restart of the workers, and what brings them together. */
function restartLines({
  waiting_for_restart: waiting,
  workers = [],
  workers_agree: isAgreed,
}: Status): readonly string[] {
  const restart = workers.length > 0 ? "sluice restart" : "a stop and a start";
  return [
    ...(waiting.length > 0
      ? [`changed since they were loaded, and wait for ${restart}: ${waiting.join(", ")}`]
      : []),
    ...(isAgreed === false
      ? [
          "the workers run different configurations: sluice reload or sluice rollback brings them together, or says why not",
        ]
      : []),
  ];
}

function workerCountLines({
  workers = [],
  workers_expected: expected = 0,
}: Status): readonly string[] {
  return workers.length < expected
    ? [`${workers.length} of ${expected} workers serve; the others are being started`]
    : [];
}

function drainingLine({
  generation,
  leases,
  oldest_age_ms: ageMs,
}: Status["draining"][number]): string {
  return `draining generation ${generation}: ${leases} in flight, the oldest for ${Math.round(ageMs / 1000)} s`;
}

function lastAttemptLines({ last_attempt: last }: Status): readonly string[] {
  if (last === null) return [];
  const why = last.reason === null ? "" : `, because ${last.reason}`;
  const by = last.author === null ? "" : ` by ${last.author}`;
  const digest = last.digest === null ? "" : `, digest ${shortOf(last.digest)}`;
  return [
    `last attempt: ${last.outcome} at ${last.at}${by}${why}${digest}`,
    ...last.findings.map(({ text }) => text),
  ];
}

function versionLines({ version, supervisor }: Status): readonly string[] {
  const line = `version ${version}`;
  if (supervisor?.is_outdated !== true) return [line];
  const process = `the supervising process (pid ${supervisor.pid}, version ${supervisor.version})`;
  return [line, `${process} runs other code than its workers: stop the gateway and start it again`];
}

function workerLine(worker: WorkerStatus, canary: CanaryStatus | null): string {
  const {
    answers,
    generation,
    digest,
    leases,
    differs,
    silent_ms: silentMs = 0,
    held_by: heldBy = null,
  } = worker;
  const name = `worker ${worker.worker} (pid ${worker.pid})`;
  if (answers) {
    const isWithout = canary !== null && worker.canary === null;
    const reason = differs === null ? "" : `; ${differs}`;
    return `${name}: generation ${generation}, digest ${shortOf(digest ?? "none")}, ${leases} in flight${isWithout ? ", without the canary" : ""}${reason}`;
  }
  const since =
    silentMs < 1_000
      ? ""
      : `: its event loop has stood still for ${Math.round(silentMs / 1_000)} s`;
  return `${name} does not answer${since}${heldBy === null ? "" : ` at ${heldBy}`}`;
}
