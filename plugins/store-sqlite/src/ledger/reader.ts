/** The reader of the ledger. Reports and sums run in threads, small questions do not. */

import type {
  GuardrailDay,
  KeyUse,
  LedgerDay,
  LedgerQuery,
  LedgerReader,
  LedgerStore,
  LedgerSumFilter,
  LedgerTag,
  Log,
  SpendGroup,
  SpendRow,
} from "@sluice/contract";
import { CustomerSums } from "@sluice/store-sql/customers";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { createLedgerAnswers, type LedgerQuestion } from "./questions.ts";
import { LedgerThread } from "./thread.ts";
import { isBusy } from "../open-database.ts";
import type { RunStatement } from "../statements.ts";

/** How long the event loop is kept at a time where there is no thread, in milliseconds. */
const TURN_MS = 5;

type Ask = (
  question: LedgerQuestion,
  signal: AbortSignal | undefined,
) => Promise<readonly unknown[]>;

/** A reader that has a life. */
export interface SqliteLedgerReader extends Required<LedgerReader>, Pick<LedgerStore, "uses"> {
  /** Runs a statement that only reads, of a list of records. */
  readonly records: RunStatement;
  stop(): Promise<void>;
}

/**
 * Makes the reader of an open file. A database in memory belongs to its connection: its questions
 * are answered in turns.
 */
export function createLedgerReader(
  database: DatabaseSync,
  path: string,
  log: Log,
): SqliteLedgerReader {
  const answers = createLedgerAnswers(database);
  const thread = path === ":memory:" ? undefined : new LedgerThread(path, log);
  // The start value of a budget is read before a request is admitted: it never waits for a report.
  const sums = path === ":memory:" ? undefined : new LedgerThread(path, log);

  const askHere = (question: LedgerQuestion, signal: AbortSignal | undefined) =>
    answeredInTurns(answers(question), signal);
  const ask: Ask = async (question, signal) =>
    thread === undefined ? askHere(question, signal) : thread.ask(question, signal);
  const sumsOf = async (filters: readonly LedgerSumFilter[], signal?: AbortSignal) => {
    const question: LedgerQuestion = { about: "spent", filters };
    const asked = sums === undefined ? askHere(question, signal) : sums.ask(question, signal);
    return (await asked) as readonly number[];
  };
  const ofCustomers = new CustomerSums(sumsOf);

  const rowsOf = createRowsReader(askHere, ask);

  return {
    rows: rowsOf,
    days: async (filter, signal) =>
      (await ask({ about: "days", filter }, signal)) as readonly LedgerDay[],
    tags: async (filter, signal) =>
      (await ask({ about: "tags", filter }, signal)) as readonly LedgerTag[],
    report: async (query, signal) =>
      (await ask({ about: "report", query }, signal)) as readonly SpendGroup[],
    guardrails: async (query, signal) =>
      (await ask({ about: "guardrails", query }, signal)) as readonly GuardrailDay[],
    uses: async (keys, signal) => (await ask({ about: "uses", keys }, signal)) as readonly KeyUse[],
    records: async (sql, parameters) => ({
      rows: await ask({ about: "records", sql, parameters }, undefined),
      changes: undefined,
    }),
    spent: async (filter, signal) =>
      filter.endUser === undefined
        ? ((await sumsOf([filter], signal))[0] ?? 0)
        : ofCustomers.of(filter, signal),
    async stop() {
      ofCustomers.stop();
      await Promise.all([thread?.stop(), sums?.stop()]);
    },
  };
}

/** Reads rows: those of a request on the event loop, others in the thread. */
function createRowsReader(askHere: Ask, ask: Ask) {
  /** The rows of one request cost less than a message to the thread, which can wait for a lock. */
  const askOfOne: Ask = async (question, signal) => {
    try {
      return await askHere(question, signal);
    } catch (error) {
      if (!isBusy(error)) throw error;
      return ask(question, signal);
    }
  };
  return async (query: LedgerQuery, signal?: AbortSignal): Promise<readonly SpendRow[]> => {
    const { completionId, ...others } = query;
    const isOfRequest = others.requestId !== undefined;
    let found: readonly unknown[] = [];
    if (isOfRequest) found = await askOfOne({ about: "rows", query: others }, signal);
    // A search by completion reads every block. No completion has the id of a request.
    if (found.length === 0 && !(isOfRequest && completionId === undefined))
      found = await ask({ about: "rows", query }, signal);
    return found as readonly SpendRow[];
  };
}

/** All rows of an answer. The event loop runs between its turns. */
async function answeredInTurns(
  batches: Iterable<readonly unknown[]>,
  signal: AbortSignal | undefined,
): Promise<readonly unknown[]> {
  signal?.throwIfAborted();
  const found: unknown[] = [];
  let turnEndsMs = performance.now() + TURN_MS;
  for (const batch of batches) {
    found.push(...batch);
    if (performance.now() < turnEndsMs) continue;
    await yieldToLoop();
    signal?.throwIfAborted();
    turnEndsMs = performance.now() + TURN_MS;
  }
  return found;
}
