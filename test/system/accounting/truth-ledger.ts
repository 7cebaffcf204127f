/**
 * The oracle: what an upstream received and billed, held against the gateway's spend rows, request
 * by request.
 */

import { type FaultRecord, USAGE } from "@sluice/testing";
import type { SpendRow } from "../support/client.ts";
import type { GatewayProcess } from "../support/gateway-process.ts";

/**
 * What a million tokens cost, in dollars; a token then costs thousandths of that in nano-dollars.
 */
export interface TruthPrice {
  readonly input: number;
  readonly output: number;
}

/** What was compared, and what does not agree. */
export interface Truth {
  readonly requests: number;
  readonly "upstream records": number;
  readonly "spend rows": number;
  /** Rows whose usage is the upstream's. */
  readonly "as reported": number;
  /** Rows of replies whose usage never came: counted tokens. */
  readonly estimated: number;
  /**
   * Calls that were sent and lost: the upstream may have billed them. Their rows have the prompt,
   * counted, and its price.
   */
  readonly ambiguous: number;
  readonly "failed unbilled": number;
  /** Rows of attempts that never reached an upstream. */
  readonly "not received": number;
  /** Records of calls that met a stale connection; the record of their replay has the row. */
  readonly replayed: number;
  readonly "nano-dollars": number;
  readonly discrepancies: readonly string[];
}

/**
 * By how many tokens a count may be over what the upstream billed: tokens end elsewhere where a
 * text is cut.
 */
const SLACK_TOKENS = 2;

/**
 * Compares records with all rows that the gateway has. Requests are identified by their `user`,
 * which must be there and unique. `records` are of one or several upstreams, in the order of
 * arrival.
 *
 * Rows and records agree one to one, but for two rules: a call that met a stale connection is sent
 * again and is one attempt, and an attempt that never reached an upstream has a row that costs
 * nothing. A row of a reply is priced to the nano-dollar. It has the usage that the upstream
 * reported, or else counted tokens: as many as were billed where the upstream itself ended what it
 * said, no more than that where the client left or the connection was lost.
 */
export async function compareTruth(
  gateway: GatewayProcess,
  records: readonly FaultRecord[],
  price: TruthPrice,
): Promise<Truth> {
  const rows = await allRows(gateway);
  const recordsOf = Map.groupBy(records, ({ user }) => user);
  const rowsOf = Map.groupBy(rows, (row) => row.end_user ?? "");
  const counts = {
    "as reported": 0,
    estimated: 0,
    ambiguous: 0,
    "failed unbilled": 0,
    "not received": 0,
    replayed: 0,
    "nano-dollars": 0,
  };
  const discrepancies: string[] = [];

  for (const user of new Set([...recordsOf.keys(), ...rowsOf.keys()])) {
    const complain = (what: string): void => void discrepancies.push(`${user}: ${what}`);
    const attempts = (rowsOf.get(user) ?? []).toSorted((a, b) => a.attempt - b.attempt);
    const all = recordsOf.get(user) ?? [];
    if (new Set(attempts.map((row) => row.request_id)).size > 1)
      complain("has rows of several requests");
    if (attempts.some((row, index) => row.attempt !== index + (attempts[0]?.attempt ?? 0)))
      complain("has attempts twice, or not all");
    const received = withoutStale(all, attempts.length);
    counts.replayed += all.length - received.length;
    const dispatched = attempts.filter(
      (row) => !wasNotReceived(row, attempts.length - received.length),
    );
    counts["not received"] += attempts.length - dispatched.length;
    if (dispatched.length !== received.length) {
      complain(
        `${received.length} records (${received.map(({ mode }) => mode).join()}), ${dispatched.length} rows (${attempts.map(describe).join()})`,
      );
      continue;
    }
    for (const [index, row] of dispatched.entries()) {
      const record = received[index];
      if (record === undefined) continue;
      const { kind, wrong } = compareOne(row, record, price);
      counts[kind]++;
      counts["nano-dollars"] += nanoUsd(row) ?? 0;
      for (const what of wrong) complain(`${record.mode}, attempt ${row.attempt}: ${what}`);
    }
  }
  return {
    requests: rowsOf.size,
    "upstream records": records.length,
    "spend rows": rows.length,
    ...counts,
    discrepancies,
  };
}

type Kind = "as reported" | "estimated" | "ambiguous" | "failed unbilled";

function compareOne(
  row: SpendRow,
  record: FaultRecord,
  price: TruthPrice,
): { kind: Kind; wrong: string[] } {
  const wrong: string[] = [];
  const spent = nanoUsd(row);
  if (row.status === "failure" && row.metadata["ambiguous"] === true) {
    const { prompt_tokens: counted, completion_tokens: none, usage_source: how } = row;
    if (!mayHaveBilled(record)) wrong.push("is taken for a lost call, and was refused");
    if (how !== "estimated" || none !== 0 || (counted ?? 0) <= 0)
      wrong.push(`a lost call has ${counted} + ${none} tokens (${how})`);
    if (spent !== Math.round((counted ?? 0) * price.input * 1_000))
      wrong.push(`a lost call cost ${spent} nano-dollars`);
    return { kind: "ambiguous", wrong };
  }
  if (row.status === "failure") {
    if (spent !== undefined && spent !== 0) wrong.push(`a failure cost ${spent} nano-dollars`);
    if (row.usage_source !== null) wrong.push(`a failure has a usage (${row.usage_source})`);
    if (mayHaveBilled(record) && row.error_code !== "client_closed")
      wrong.push("was lost, and is not marked as ambiguous");
    return { kind: "failed unbilled", wrong };
  }
  const { prompt_tokens: prompt, completion_tokens: completion, usage_source: source } = row;
  const exact = Math.round(
    (prompt ?? Number.NaN) * price.input * 1_000 +
      (completion ?? Number.NaN) * price.output * 1_000,
  );
  if (spent !== exact) wrong.push(`cost ${spent} nano-dollars, not ${exact}`);
  if (source === "provider") {
    if (!record.reportedUsage) wrong.push("has a usage that was never reported");
    if (prompt !== USAGE.prompt_tokens || completion !== USAGE.completion_tokens)
      wrong.push(`has ${prompt} + ${completion} tokens, not as reported`);
    return { kind: "as reported", wrong };
  }
  if (row.status === "success" && record.reportedUsage)
    wrong.push("has a reported usage, and is an estimate");
  const isWhole =
    row.status === "success" ||
    (record.closedByPeerAtMs === undefined && row.error_code !== "client_closed");
  if ((completion ?? 0) > record.billedTokens + SLACK_TOKENS)
    wrong.push(`counts ${completion} tokens of ${record.billedTokens}`);
  if (isWhole && (completion ?? 0) < record.billedTokens - SLACK_TOKENS)
    wrong.push(`counts only ${completion} tokens of ${record.billedTokens}`);
  return { kind: "estimated", wrong };
}

/**
 * Whether a call that failed may have been carried out: it was no status that refuses, and no
 * error, page or nothing in place of a reply.
 */
function mayHaveBilled({ mode, stream }: FaultRecord): boolean {
  // An error event is an error's body where no stream was asked for.
  if (/^u21-.*first$/.test(mode) && !stream) return false;
  return !/^u(?:22|32|3[5-9]|4[0-2]|5[01])-/.test(mode);
}

/**
 * Records without those of calls that were sent again: on a used connection, and closed without a
 * byte of answer.
 */
function withoutStale(records: readonly FaultRecord[], rows: number): readonly FaultRecord[] {
  let surplus = records.length - rows;
  return records.filter((record, index) => {
    const isStale =
      surplus > 0 && record.isReused && record.answeredBytes === 0 && index < records.length - 1;
    if (isStale) surplus--;
    return !isStale;
  });
}

/**
 * Whether a row, one of `missing` too many, is of a call that did not get as far as the upstream.
 */
function wasNotReceived(
  { attempt, status, error_code: code, spend }: SpendRow,
  missing: number,
): boolean {
  if (attempt === 0) return true;
  const isUnsent =
    code === "upstream_unreachable" || code === "client_closed" || code === "deadline_exceeded";
  return missing > 0 && status === "failure" && isUnsent && (spend ?? 0) === 0;
}

const describe = ({ status, error_code: code }: SpendRow): string =>
  `${status} ${code ?? ""}`.trim();
const nanoUsd = ({ spend }: SpendRow): number | undefined =>
  spend === null ? undefined : Math.round(spend * 1e9);

async function allRows(gateway: GatewayProcess): Promise<SpendRow[]> {
  const rows: SpendRow[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const response: Response = await fetch(`${gateway.publicUrl}/spend/logs?limit=1000${query}`, {
      headers: { authorization: `Bearer ${gateway.masterKey}` },
    });
    if (!response.ok)
      throw new Error(`GET /spend/logs answered ${response.status}: ${await response.text()}`);
    rows.push(...((await response.json()) as SpendRow[]));
    cursor = response.headers.get("x-sluice-next-cursor");
  } while (cursor !== null);
  return rows;
}
