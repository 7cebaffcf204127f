/** Answers of several workers, put together as the one answer of the gateway. */

import { parseJson } from "@sluice/kit";
import { joinPages } from "../../telemetry/prometheus.ts";
import type { Answer, Answers, WorkerAddress } from "./ask-workers.ts";

/** The worker that served a request has its explanation. The others have at most its rows. */
export function oneOfThem(answers: Answers): Answer {
  const found = answers.filter(({ status }) => status === 200);
  return (
    found.find(({ text }) => (parseJson(text) as { source?: unknown }).source !== "ledger") ??
    found[0] ??
    answers[0]
  );
}

/** One page of metrics; `own` are those of the supervisor. */
export function joinMetrics(answers: Answers, own: string): Answer {
  const refused = answers.find(({ status }) => status !== 200);
  if (refused !== undefined) return refused;
  const pages = new Map(answers.map(({ worker, text }) => [String(worker.number), text]));
  return { ...answers[0], text: `${joinPages(pages)}\n${own}` };
}

/** The answer of each worker. */
export type Values = readonly {
  readonly worker: WorkerAddress;
  readonly value: Record<string, unknown>;
}[];

/** Joins JSON answers. A failure is the joined answer. */
export function joined(answers: Answers, join: (values: Values) => unknown): Answer {
  const refused = answers.find(({ status }) => status !== 200);
  if (refused !== undefined) return refused;
  const values = answers.map(({ worker, text }) => ({
    worker,
    value: parseJson(text) as Record<string, unknown>,
  }));
  return withValue(answers[0], join(values));
}

/** The same answer with another value. */
export function withValue(answer: Answer, value: unknown): Answer {
  return { ...answer, text: JSON.stringify(value) };
}
