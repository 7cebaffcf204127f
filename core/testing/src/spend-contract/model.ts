/** Reports as a model makes them: from the rows alone, without sums. */

import type {
  GuardrailDay,
  KeyUse,
  KeyUseQuery,
  LedgerSumFilter,
  SpendDimension,
  SpendGroup,
  SpendReportQuery,
  SpendRow,
  SpendSums,
} from "@sluice/contract";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The first row of each call: a repeated one changes nothing. */
export function distinctRows(rows: readonly SpendRow[]): readonly SpendRow[] {
  const kept = new Map<string, SpendRow>();
  for (const row of rows) {
    const call = `${row.requestId}:${row.attempt}`;
    if (!kept.has(call)) kept.set(call, row);
  }
  return [...kept.values()];
}

/** The counts of guardrails by day, in the order of their names. */
export function modelGuardrails(
  rows: readonly SpendRow[],
  fromMs: number,
): readonly GuardrailDay[] {
  const days = new Map<string, GuardrailDay>();
  for (const { startedAtMs, judged = [] } of distinctRows(rows)) {
    const day = Math.floor(startedAtMs / DAY_MS);
    if (day < Math.floor(fromMs / DAY_MS)) continue;
    const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
    for (const { requests, ...names } of judged) {
      const { route, guardrail, direction, verdict, mode } = names;
      const name = [date, route, guardrail, direction, verdict, mode].join("\0");
      const known = days.get(name);
      days.set(name, { ...names, date, requests: requests + (known?.requests ?? 0) });
    }
  }
  return [...days].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, day]) => day);
}

/** The use of a key. */
export function modelUse(rows: readonly SpendRow[], { keyId, fromMs, tag }: KeyUseQuery): KeyUse {
  const times = distinctRows(rows)
    .filter((row) => row.keyId === keyId)
    .map(({ startedAtMs }) => startedAtMs);
  return {
    keyId,
    costNanoUsd:
      Number(modelCost(rows, { keyId, fromMs })) +
      (tag === undefined ? 0 : Number(modelCost(rows, { tag, fromMs }))),
    lastUsedAtMs: times.length === 0 ? null : Math.max(...times),
  };
}

/** All groups of a report, in its order; `limit` and `after` aside. */
export function modelReport(rows: readonly SpendRow[], query: SpendReportQuery): SpendGroup[] {
  const { by, bucket, filter, within, fromMs = -Infinity, toMs = Infinity } = query;
  const groups = new Map<string, { startMs: number | null; ids: string[]; rows: SpendRow[] }>();
  for (const row of distinctRows(rows)) {
    if (row.startedAtMs < fromMs || row.startedAtMs >= toMs) continue;
    const tags = by.includes("tag") || filter.tag !== undefined ? new Set(row.tags) : [""];
    for (const tag of tags) {
      const ids = { ...idsOf(row), tag };
      if ((by.includes("customer") || filter.customer !== undefined) && ids.customer === "")
        continue;
      if (!matches(ids, filter) || within?.some((scope) => matches(ids, scope)) === false) continue;
      const lengthMs = bucket === "day" ? 24 * HOUR_MS : HOUR_MS;
      const startMs = bucket === "none" ? null : Math.floor(row.startedAtMs / lengthMs) * lengthMs;
      const key = [startMs, ...by.map((name) => ids[name])].join("\n");
      let group = groups.get(key);
      if (group === undefined)
        groups.set(key, (group = { startMs, ids: by.map((name) => ids[name]), rows: [] }));
      group.rows.push(row);
    }
  }
  return [...groups.values()]
    .sort((a, b) => (a.startMs ?? 0) - (b.startMs ?? 0) || compareTexts(a.ids, b.ids))
    .map(({ startMs, ids, rows: found }) => ({
      startMs,
      ids: ids.map((id) => (id === "" ? null : id)),
      sums: sumsOf(found),
    }));
}

function idsOf(row: SpendRow): Record<SpendDimension, string> {
  return {
    organization: row.organizationId ?? "",
    team: row.teamId ?? "",
    user: row.userId ?? "",
    key: row.keyId,
    tag: "",
    model: row.model,
    provider: row.targetId?.split("/")[0] ?? "",
    customer: row.endUser ?? "",
  };
}

function matches(
  ids: Record<SpendDimension, string>,
  filter: Readonly<Partial<Record<SpendDimension, string>>>,
): boolean {
  return Object.entries(filter).every(([name, id]) => ids[name as SpendDimension] === id);
}

function compareTexts(a: readonly string[], b: readonly string[]): number {
  for (const [index, text] of a.entries()) {
    const order = Buffer.compare(Buffer.from(text), Buffer.from(b[index] ?? ""));
    if (order !== 0) return order;
  }
  return 0;
}

/** The sums of rows, each amount by its definition. */
export function sumsOf(rows: readonly SpendRow[]): SpendSums {
  const count = (counts: (row: SpendRow) => boolean): bigint =>
    rows.filter(counts).reduce((sum, { requests = 1 }) => sum + BigInt(requests), 0n);
  const total = (amount: (row: SpendRow) => number | null): bigint =>
    rows.reduce((sum, row) => sum + BigInt(amount(row) ?? 0), 0n);
  return {
    requests: count(({ attempt }) => attempt <= 1),
    rows: count(() => true),
    failedRows: count(({ status }) => status === "failure"),
    partialRows: count(({ status }) => status === "partial"),
    unpricedRows: count(({ costNanoUsd }) => costNanoUsd === null),
    estimatedRows: count(({ usageSource }) => usageSource === "estimated"),
    cacheHits: count(({ cacheHit }) => cacheHit),
    promptTokens: total(({ promptTokens }) => promptTokens),
    completionTokens: total(({ completionTokens }) => completionTokens),
    totalTokens: total(({ totalTokens }) => totalTokens),
    cachedTokens: total(({ cachedTokens }) => cachedTokens),
    reasoningTokens: total(({ reasoningTokens }) => reasoningTokens),
    costNanoUsd: total(({ costNanoUsd }) => costNanoUsd),
    lostNanoUsd: total(({ status, costNanoUsd }) => (status === "success" ? 0 : costNanoUsd)),
  };
}

/** The cost of the rows of a filter, in nano-dollars. */
export function modelCost(rows: readonly SpendRow[], filter: LedgerSumFilter): bigint {
  const { tag, provider, models, fromMs = -Infinity, toMs = Infinity, ...equal } = filter;
  return distinctRows(rows)
    .filter((one) => one.startedAtMs >= fromMs && one.startedAtMs < toMs)
    .filter((one) =>
      Object.entries(equal).every(([name, id]) => one[name as keyof typeof one] === id),
    )
    .filter((one) => tag === undefined || one.tags.includes(tag))
    .filter(
      ({ targetId }) =>
        provider === undefined ||
        targetId === provider ||
        targetId?.startsWith(`${provider}/`) === true,
    )
    .filter(
      ({ model, modelGroup }) =>
        models === undefined || models.some((name) => namesRow(name, model, modelGroup)),
    )
    .reduce((sum, { costNanoUsd }) => sum + BigInt(costNanoUsd ?? 0), 0n);
}

/** Whether a name of `LedgerSumFilter.models` is one of a row. */
function namesRow(name: string, model: string, group: string | null): boolean {
  const texts = group === null ? [model] : [model, `${group}\n${model}`];
  if (texts.includes(name) || name === group) return true;
  return name.endsWith("*") && texts.some((text) => text.startsWith(name.slice(0, -1)));
}
