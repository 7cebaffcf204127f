/**
 * Joins the workers' status of the configuration: the generation of each, and the outcome of an
 * edit in each.
 */

import { isObject, parseJson } from "@sluice/kit";
import type { Answer, Answers, WorkerAddress } from "./ask-workers.ts";
import { type Values, withValue } from "./join-answers.ts";
import { joinPreviousKeys } from "../../http/admin/config/previous-key.ts";

type Value = Record<string, unknown>;

/** The process that supervises the workers. */
export interface SupervisorInfo {
  readonly pid: number;
  readonly version: string;
  /** Whether workers run other code than it does. */
  readonly is_outdated: boolean;
}

/** The supervisor's part of a status. */
export interface SupervisorFacts {
  /** The configured number of workers. */
  readonly expected: number;
  readonly supervisor: SupervisorInfo;
}

/** The status of a worker that was not reached: all members are empty. */
const NOTHING = {
  name: null,
  live: null,
  drift: { files_differ: false, files: [] },
  last_attempt: null,
  judged: null,
};

/**
 * The first worker's status, with the counts of all, and beside it what each of those that serve
 * runs, whether it answers or not.
 */
export function joinStatus(
  values: Values,
  serving: readonly WorkerAddress[],
  { expected, supervisor }: SupervisorFacts,
): unknown {
  const [first] = values;
  const workers = serving.map((worker) => {
    const value = values.find((one) => one.worker.pid === worker.pid)?.value;
    const live = objectOf(value?.["live"]);
    return {
      worker: worker.number,
      pid: worker.pid,
      answers: value !== undefined,
      generation: live["generation"] ?? null,
      digest: live["digest"] ?? null,
      leases: live["leases"] ?? null,
      canary: objectOf(value?.["canary"])["generation"] ?? null,
      differs: worker.differs ?? null,
      ...(value === undefined && {
        silent_ms: Math.round(worker.silentMs ?? 0),
        held_by: worker.heldBy ?? null,
      }),
    };
  });
  const known = workers.filter(({ answers }) => answers);
  const listsOf = (name: string): readonly Value[][] =>
    values.map(({ value }) => (value[name] ?? []) as Value[]);
  return {
    ...(first?.value ?? { version: supervisor.version, ...NOTHING }),
    live:
      (first?.value["live"] ?? null) === null
        ? null
        : { ...objectOf(first?.value["live"]), leases: sum(workers, "leases") },
    last_attempt: lastAttemptOf(values.map(({ value }) => objectOf(value["last_attempt"]))),
    canary: joinCanary(values.map(({ value }) => value["canary"]).filter(isObject) as Value[]),
    shadows: joinShadows(listsOf("shadows").flat()),
    waiting_for_restart: [...new Set(listsOf("waiting_for_restart").flat())],
    draining: values.flatMap(({ worker }, index) =>
      (listsOf("draining")[index] ?? []).map((generation) => ({
        ...generation,
        worker: worker.number,
      })),
    ),
    previous_key: joinPreviousKeys(
      values.map(({ value }) => value["previous_key"]).filter(isObject),
    ),
    ledger: joinLedgers(values.map(({ value }) => objectOf(value["ledger"]))),
    leader: joinLeaders(values.map(({ value }) => objectOf(value["leader"]))),
    store: joinStores(values.map(({ value }) => objectOf(value["store"]))),
    workers_agree:
      new Set(known.map(({ digest, generation }) => `${String(generation)} ${String(digest)}`))
        .size <= 1,
    workers_expected: expected,
    supervisor,
    workers,
  };
}

/** Each worker has an outbox of its own: one that cannot be written to is what is shown. */
function joinLedgers(ledgers: readonly Value[]): Value | null {
  if (ledgers.length === 0) return null;
  const faulty = ledgers.find(({ writable }) => writable === false);
  return {
    ...(faulty ?? ledgers[0]),
    store_failing: ledgers.some(({ store_failing: isFailing }) => isFailing === true),
    kept_rows: sum(ledgers, "kept_rows"),
    outbox_batches: sum(ledgers, "outbox_batches"),
  };
}

/** Each worker follows the log of changes by itself: the one that serves the least is shown. */
function joinStores(stores: readonly Value[]): Value | null {
  for (const serves of ["none", "known"]) {
    const worst = stores.find((store) => store["serves"] === serves);
    if (worst !== undefined) return worst;
  }
  return stores[0] ?? null;
}

/** One of the workers may lead: it knows its jobs best. */
function joinLeaders(leaders: readonly Value[]): Value | null {
  return leaders.find((leader) => leader["is_self"] === true) ?? leaders[0] ?? null;
}

/** The outcome of an edit: the worst of all workers. */
export function joinAttempts(asked: readonly WorkerAddress[], answers: Answers): Answer {
  const known = answers.filter(({ status }) => status === 200);
  const [first] = known;
  if (first === undefined) return answers[0];
  const attempts = known.map(({ worker, text }) => ({ worker, value: parseJson(text) as Value }));
  const refused = attempts.filter(({ value }) => value["outcome"] === "refused");
  const isSplit = refused.length > 0 && refused.length < attempts.length;
  // A refusal by the first worker holds for all, so the others get no request.
  const unknown = refused.length > 0 && !isSplit ? "not_asked" : "no_answer";
  const findings = new Map(
    refused
      .flatMap(({ value }) => value["findings"] as Value[])
      .map((finding) => [finding["text"], finding]),
  );
  return withValue(first, {
    ...(refused[0] ?? attempts[0])?.value,
    ...(refused.length > 0 && { findings: [...findings.values()] }),
    ...(isSplit && {
      reason: `${namesOf(refused)} refused what ${namesOf(attempts.filter((one) => !refused.includes(one)))} took: they run different configurations until an edit or a rollback that all of them take`,
    }),
    workers: asked.map((worker) => {
      const value = attempts.find((attempt) => attempt.worker === worker)?.value;
      return {
        worker: worker.number,
        outcome: value?.["outcome"] ?? unknown,
        generation: value?.["generation"] ?? null,
      };
    }),
  });
}

/** As `joinAttempts`, with what the first worker says of the files that it has written. */
export function joinWrite(asked: readonly WorkerAddress[], answers: Answers): Answer {
  const [first] = answers;
  const joinedAnswer = joinAttempts(asked, answers);
  if (first.status !== 200) return joinedAnswer;
  const { files, files_digest } = parseJson(first.text) as Value;
  return withValue(joinedAnswer, {
    ...(parseJson(joinedAnswer.text) as Value),
    files,
    files_digest,
  });
}

/** The first worker's, unless another refused the same contents. */
function lastAttemptOf(attempts: readonly Value[]): Value | null {
  const [first = {}] = attempts;
  const refused = attempts.find(
    ({ outcome, digest }) => outcome === "refused" && digest === first["digest"],
  );
  const last = refused ?? first;
  return Object.keys(last).length === 0 ? null : last;
}

/** Each worker judges its own share of the requests; the counts are those of all. */
function joinCanary(canaries: readonly Value[]): Value | null {
  const [first] = canaries;
  if (first === undefined) return null;
  const same = canaries.filter(({ generation }) => generation === first["generation"]);
  const others = same.map((canary) => objectOf(canary["others"]));
  return {
    ...first,
    leases: sum(same, "leases"),
    requests: sum(same, "requests"),
    errors: sum(same, "errors"),
    p99_ms: highest(same, "p99_ms"),
    others: {
      requests: sum(others, "requests"),
      errors: sum(others, "errors"),
      p99_ms: highest(others, "p99_ms"),
    },
    shadows: joinShadows(same.flatMap(({ shadows }) => (shadows ?? []) as Value[])),
  };
}

const SHADOW_COUNTS = ["runs", "refused", "answered", "changed", "failed"];

function joinShadows(shadows: readonly Value[]): Value[] {
  const byPlace = new Map<string, Value[]>();
  for (const shadow of shadows) {
    const place = JSON.stringify([
      shadow["pipeline"],
      shadow["step"],
      shadow["file"],
      shadow["line"],
    ]);
    byPlace.set(place, [...(byPlace.get(place) ?? []), shadow]);
  }
  return [...byPlace.values()].map((same) => ({
    ...same[0],
    ...Object.fromEntries(SHADOW_COUNTS.map((count) => [count, sum(same, count)])),
  }));
}

function namesOf(attempts: Values): string {
  return `worker ${attempts.map(({ worker }) => worker.number).join(", ")}`;
}

function sum(values: readonly Value[], name: string): number {
  return values.reduce((total, value) => total + Number(value[name] ?? 0), 0);
}

function highest(values: readonly Value[], name: string): number | null {
  const known = values.map((value) => value[name]).filter((value) => typeof value === "number");
  return known.length === 0 ? null : Math.max(...known);
}

function objectOf(value: unknown): Value {
  return isObject(value) ? value : {};
}
