/** The verdict: rows, sums and counters against what the upstream knows. */

import { Client } from "pg";
import type { Losses } from "./events.ts";
import { CALL_NANO_USD } from "./gateways.ts";
import type { Counter } from "./redis.ts";
import type { Outcome } from "./traffic.ts";
import type { Unit } from "./units.ts";

/** What is compared. */
export interface Evidence {
  readonly outcomes: readonly Outcome[];
  /** Calls that arrived at the upstream, by request. */
  readonly calls: ReadonlyMap<string, number>;
  readonly units: readonly Unit[];
  /** When gateways lost their shared state. */
  readonly losses: Losses;
  readonly counters: readonly Counter[];
  readonly databaseUrl: string;
}

/** Calls of a second may be under way when gateways notice the loss. */
const LOSS_MS = 1_000;

interface Row {
  readonly user: string;
  readonly status: string;
  readonly nanoUsd: number;
}

/** Lines for people, and what is wrong, by kinds. */
export interface Verdict {
  readonly lines: readonly string[];
  readonly faults: readonly (readonly string[])[];
}

/** Compares. */
export async function judge(evidence: Evidence): Promise<Verdict> {
  const { outcomes, calls } = evidence;
  const rows = await readRows(evidence.databaseUrl);
  const rowsOf = Map.groupBy(rows, ({ user }) => user);
  const count = (result: Outcome["result"]): number =>
    outcomes.filter((outcome) => outcome.result === result).length;
  const dispatched = (id: string): number => rowsOf.get(id)?.length ?? 0;
  const ids = [...new Set([...calls.keys(), ...rowsOf.keys()])];
  const cut = new Set(outcomes.filter(isCut).map(({ id }) => id));
  const lost = ids.filter((id) => dispatched(id) < (calls.get(id) ?? 0));
  const more = ids.filter((id) => dispatched(id) > (calls.get(id) ?? 0));
  // A call that was noted, and cut before it arrived, has a row.
  const doubled = more.filter((id) => !cut.has(id));
  const unpriced = rows.filter(
    ({ nanoUsd, status }) => status !== "failure" && nanoUsd !== CALL_NANO_USD,
  );
  const compared = (id: string): string =>
    `${id}: ${calls.get(id) ?? 0} calls, ${dispatched(id)} rows`;
  const faults = [
    failuresOf(outcomes),
    lost.map(compared),
    doubled.map(compared),
    unpriced.map(({ user, nanoUsd }) => `${user}: costs ${nanoUsd} nano-dollars`),
  ];
  const sums = await differingSums(evidence.databaseUrl);
  faults.push(sums, await asideIn(evidence.databaseUrl));
  const money = judgeBudgets(evidence, rowsOf);
  return {
    lines: [
      `requests ${outcomes.length}: served ${count("served")}, refused ${count("refused")}, under way at a kill ${count("killed")}, failed ${count("failed")}; repeated after a 503: ${outcomes.filter(({ repeats }) => repeats > 0).length}`,
      `calls at the upstream ${[...calls.values()].reduce((sum, one) => sum + one, 0)}, rows of calls ${rows.length}: lost ${lost.length}, doubled ${doubled.length}, of calls that were cut before they arrived ${more.length - doubled.length}`,
      ...money.lines,
      `keys whose sums differ from their rows ${sums.length}`,
    ],
    faults: [...faults, ...money.faults],
  };
}

/** Whether a call may have been noted and not made: a kill, or a client that gave up. */
function isCut({ result, reason = "" }: Outcome): boolean {
  return result === "killed" || (result === "failed" && reason.includes("timeout"));
}

/** The reasons of failures, each with its number. */
function failuresOf(outcomes: readonly Outcome[]): string[] {
  const failed = outcomes.filter(({ result }) => result === "failed");
  const byReason = Map.groupBy(failed, ({ reason }) => reason);
  return [...byReason].map(
    ([reason, those]) =>
      `${those.length} failed at ${[...new Set(those.map(({ gateway }) => gateway))].join(", ")}, ${those[0]?.id} first: ${reason}`,
  );
}

/**
 * Whether the counter may have a request without a row, or twice: a gateway was killed during it, or
 * a client repeated it, or the shared state was lost during it. Its reservation ends with its lease
 * then, and counts as spent.
 */
function maySurpass({ result, repeats, startedMs, endedMs }: Outcome, losses: Losses): boolean {
  return (
    result === "killed" ||
    repeats > 0 ||
    losses.some((atMs) => startedMs <= atMs + LOSS_MS && endedMs >= atMs)
  );
}

/** Each budget against the calls of its keys, and its counter against its rows. */
function judgeBudgets(
  { outcomes, calls, units, losses, counters }: Evidence,
  rowsOf: ReadonlyMap<string, readonly Row[]>,
): Verdict {
  const idsOf = Map.groupBy(outcomes, ({ unit }) => unit);
  const exceeded: string[] = [];
  const differing: string[] = [];
  let [spent, over, asked, above] = [0, 0, 0, 0];
  for (const unit of units) {
    const own = idsOf.get(unit) ?? [];
    if (own.length === 0) continue;
    asked += 1;
    const arrived = own.reduce((sum, { id }) => sum + (calls.get(id) ?? 0), 0);
    const rows = own.flatMap(({ id }) => rowsOf.get(id) ?? []);
    const ofRows = rows.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0);
    if (arrived >= unit.limit) spent += 1;
    if (arrived > unit.limit) {
      over += arrived - unit.limit;
      exceeded.push(`${unit.id}: ${arrived} calls of ${unit.limit}`);
    }
    const counter = counters.find(({ key }) => key.startsWith(unit.counter));
    const spare = CALL_NANO_USD * own.filter((outcome) => maySurpass(outcome, losses)).length;
    const surplus = (counter?.spent ?? ofRows) - ofRows;
    if (surplus > 0 && surplus <= spare) above += 1;
    else if (surplus !== 0 || counter?.reserved !== 0)
      differing.push(`${unit.id}: the counter has ${JSON.stringify(counter)}, the rows ${ofRows}`);
  }
  return {
    lines: [
      `budgets asked ${asked}, of which spent in full ${spent}: calls beyond them ${over}, counters that differ from their rows ${differing.length}, counters above them by reservations that ended with their lease ${above}`,
    ],
    faults: [exceeded, differing],
  };
}

/** Keys whose sums by the hour are not those of their rows. */
async function differingSums(connectionString: string): Promise<string[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ key_id: string; of_rows: string; of_sums: string }>(
      `select key_id, coalesce(of_rows, 0) of_rows, coalesce(of_sums, 0) of_sums from
        (select key_id, sum(cost_nano_usd) of_rows from ledger group by key_id) r full join
        (select key_id, sum(nano_usd) of_sums from spend_hour h join spend_cell c on c.id = h.cell group by key_id) s
        using (key_id) where coalesce(of_rows, 0) <> coalesce(of_sums, 0)`,
    );
    return rows.map((row) => `${row.key_id}: sums have ${row.of_sums}, rows ${row.of_rows}`);
  } finally {
    await client.end();
  }
}

/** Rows that the ledger did not take. */
async function asideIn(connectionString: string): Promise<string[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ request_id: string }>(
      "select request_id from ledger_aside",
    );
    return rows.map((row) => `${row.request_id} is in ledger_aside`);
  } finally {
    await client.end();
  }
}

/** The rows of calls: refusals have none here. */
async function readRows(connectionString: string): Promise<Row[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{
      end_user: string;
      status: string;
      cost_nano_usd: string | null;
    }>(
      "select end_user, status, cost_nano_usd from ledger where provider is not null and end_user is not null",
    );
    return rows.map((row) => ({
      user: row.end_user,
      status: row.status,
      nanoUsd: Number(row.cost_nano_usd ?? 0),
    }));
  } finally {
    await client.end();
  }
}
