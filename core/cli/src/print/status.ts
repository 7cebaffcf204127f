/** Prints what the running gateway says of its configuration: a status, and how an edit went. */

import { byOf, type Origin, originOf, shortOf } from "../commands/history.ts";

/** How an edit went. */
export interface Attempt {
  readonly outcome: string;
  readonly at: string;
  readonly digest: string | null;
  readonly generation: number | null;
  readonly reason: string | null;
  readonly author: string | null;
  readonly findings: readonly { readonly text: string }[];
  /** With several workers: how it went with each. */
  readonly workers?: readonly { readonly worker: number; readonly outcome: string; readonly generation: number | null }[];
}

/** `GET /config/status`, as far as it is printed. */
export interface Status {
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
  readonly supervisor?: { readonly pid: number; readonly version: string; readonly is_outdated: boolean };
  readonly workers_expected?: number;
  readonly workers?: readonly WorkerStatus[];
  readonly draining: readonly { readonly generation: number; readonly leases: number; readonly oldest_age_ms: number }[];
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
  /** Of one that does not answer: for how long its event loop has stood still, and the code that holds it. */
  readonly silent_ms?: number;
  readonly held_by?: string | null;
}

interface DeploymentStatus {
  readonly deployment: string;
  readonly health: string;
  readonly ejected_until: string | null;
  readonly consecutive_failures: number;
  readonly credential_refused: boolean;
  readonly ejected_models: readonly {
    readonly model: string;
    readonly operation: string;
    readonly breaker: string;
    readonly ejected_until: string | null;
  }[];
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
  const { live, drift, last_attempt: last, draining, canary, judged, shadows, workers = [] } = status;
  const { waiting_for_restart: waiting } = status;
  const isAnswered = workers.length === 0 || workers.some(({ answers }) => answers);
  if (live === null) console.log(isAnswered ? "no generation is live" : "no worker answers");
  else {
    const since = `since ${live.since}`;
    console.log(
      `running generation ${live.generation}${originOf(live)}${byOf(live)}, digest ${shortOf(live.digest)}, ${since}, ${live.leases} in flight`,
    );
    if (live.reason !== null) console.log(`rolled back by itself: ${live.reason}`);
    for (const notice of live.notices) console.log(`note: ${notice}`);
    for (const { text } of live.warnings ?? []) console.log(`warning: ${text}`);
  }
  const { ledger } = status;
  if (ledger?.writable === false) {
    console.log(`spend rows cannot be stored, and requests are refused: ${ledger.fault?.text ?? "no reason is known"}`);
  } else if (ledger?.store_failing === true) console.log("the store does not take spend rows: they wait in the outbox");
  if ((status.previous_key ?? null) !== null) console.log(previousKeyLine(status.previous_key as PreviousKeyStatus));
  if (live === null) console.log("whether the files are what runs is not known");
  else if (drift.files.length === 0) console.log("the files are what runs");
  else console.log(`the files differ from what runs: ${drift.files.map(({ path, change }) => `${path} (${change})`).join(", ")}`);
  if (canary !== null) {
    const { generation, share, ends_at: until, requests, errors, others } = canary;
    console.log(
      `canary generation ${generation} for ${share} of the keys until ${until}: ${errors} of ${requests} requests failed, of all others ${others.errors} of ${others.requests}`,
    );
  }
  if (judged !== null) {
    const { generation, until, requests, errors, before } = judged;
    console.log(
      `generation ${generation} is watched until ${until}: ${errors} of ${requests} requests failed, of the ${before.requests} before ${before.errors}`,
    );
  }
  for (const { pipeline, step, runs, refused, answered, changed, failed } of shadows) {
    console.log(
      `in shadow: ${step} of ${pipeline}: of ${runs} requests it would have refused ${refused}, answered ${answered}, changed ${changed}; it failed at ${failed}`,
    );
  }
  if (waiting.length > 0) {
    const what = workers.length > 0 ? "sluice restart" : "a stop and a start";
    console.log(`changed since they were loaded, and wait for ${what}: ${waiting.join(", ")}`);
  }
  if (status.workers_agree === false) {
    console.log(
      "the workers run different configurations: sluice reload or sluice rollback brings them together, or says why not",
    );
  }
  for (const worker of workers) console.log(lineOf(worker, canary));
  const { workers_expected: expected = 0 } = status;
  if (workers.length < expected) console.log(`${workers.length} of ${expected} workers serve; the others are being started`);
  for (const { generation, leases, oldest_age_ms: ageMs } of draining) {
    console.log(`draining generation ${generation}: ${leases} in flight, the oldest for ${Math.round(ageMs / 1000)} s`);
  }
  if (last !== null) {
    const why = last.reason === null ? "" : `, because ${last.reason}`;
    const by = last.author === null ? "" : ` by ${last.author}`;
    console.log(
      `last attempt: ${last.outcome} at ${last.at}${by}${why}${last.digest === null ? "" : `, digest ${shortOf(last.digest)}`}`,
    );
    for (const { text } of last.findings) console.log(text);
  }
  console.log(`version ${status.version}`);
  if (status.supervisor?.is_outdated === true) {
    const { pid, version } = status.supervisor;
    console.log(
      `the supervising process (pid ${pid}, version ${version}) runs other code than its workers: stop the gateway and start it again`,
    );
  }
}

function previousKeyLine({ until: end, is_accepted: isAccepted, uses, last_used_at: lastAt }: PreviousKeyStatus): string {
  if (!isAccepted) return `the previous master key has ended, at ${end}: remove server.admin.previous_key`;
  const used = lastAt === null ? "not used since the start" : `used ${uses} times, the last time at ${lastAt}`;
  return `warning: the previous master key is accepted until ${end}; ${used}`;
}

/** Names the deployments that get no traffic, or little. */
export function printDeployments(answer: unknown): void {
  const { deployments = [] } = (answer ?? {}) as { readonly deployments?: readonly DeploymentStatus[] };
  for (const view of deployments) {
    const { deployment, health, consecutive_failures: failures, credential_refused: isRefused } = view;
    const count = failures > 0 ? `, ${failures} failures in a row` : "";
    if (isRefused) console.log(`deployment ${deployment}: the provider refuses the credential`);
    if (health !== "healthy") console.log(`deployment ${deployment} is ${health}${until(view.ejected_until)}${count}`);
    for (const { model, operation, breaker, ejected_until: end } of view.ejected_models) {
      if (breaker !== "closed")
        console.log(`deployment ${deployment}: the model ${model} is ejected for ${operation}${until(end)}`);
    }
  }
}

function until(time: string | null): string {
  return time === null ? "" : ` until ${time}`;
}

function lineOf(worker: WorkerStatus, canary: CanaryStatus | null): string {
  const { answers, generation, digest, leases, differs, silent_ms: silentMs = 0, held_by: heldBy = null } = worker;
  const name = `worker ${worker.worker} (pid ${worker.pid})`;
  if (answers) {
    const isWithout = canary !== null && worker.canary === null;
    const reason = differs === null ? "" : `; ${differs}`;
    return `${name}: generation ${generation}, digest ${shortOf(digest ?? "none")}, ${leases} in flight${isWithout ? ", without the canary" : ""}${reason}`;
  }
  const since = silentMs < 1_000 ? "" : `: its event loop has stood still for ${Math.round(silentMs / 1_000)} s`;
  return `${name} does not answer${since}${heldBy === null ? "" : ` at ${heldBy}`}`;
}

/** Prints how an edit went. */
export function printAttempt({ outcome, digest, generation, findings, reason, workers = [] }: Attempt): void {
  for (const { text } of findings) console.log(text);
  const madeOf = (number: number | null): string => (number === null ? "" : `: generation ${number}`);
  const asked = workers.filter((each) => each.outcome !== "not_asked");
  const isOneOutcome = asked.every((each) => each.outcome === outcome && each.generation === generation);
  for (const each of isOneOutcome ? [] : asked) {
    console.log(`worker ${each.worker}: ${each.outcome.replace("_", " ")}${madeOf(each.generation)}`);
  }
  const made = madeOf(generation);
  const why = reason === null ? "" : `, because ${reason}`;
  console.log(`${outcome}${made}${digest === null ? "" : ` (digest ${shortOf(digest)})`}${why}`);
}
