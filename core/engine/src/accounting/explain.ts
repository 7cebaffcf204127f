/**
 * Explanations: the record of an exchange as JSON, complete for an administrator, short for a
 * client that may have it.
 */

import { basename } from "node:path";
import type { Exchange } from "@sluice/contract";
import { dollarsOf } from "@sluice/runtime";
import type { Position } from "../config/snapshot.ts";
import type { AttemptRecord, ExchangeRecord } from "./exchange-record.ts";
import type { StepNote } from "../pipeline/steps/trace.ts";

/** The request header that asks for an explanation, and the response header that has it. */
export const EXPLAIN_HEADER = "x-sluice-explain";

/** The member of a key's metadata that lets it ask. */
const PERMISSION = "sluice_explain";
/** Proxies refuse replies whose headers, all together, are longer than a page of 4 KB. */
const MAX_HEADER_CHARACTERS = 2_048;
const MAX_COMMENT_CHARACTERS = 16_384;

/**
 * Whether a client asks for an explanation and may have it: the master key, and a key whose own
 * metadata says `"sluice_explain": true`. The header of any other client is ignored.
 */
export function mayExplain({ client, identity }: Exchange): boolean {
  if (client.header(EXPLAIN_HEADER) !== "1" || identity === undefined) return false;
  return identity.kind === "master" || identity.metadata[PERMISSION] === true;
}

/** An explanation as the value of a header: JSON in ASCII, 2,048 characters at most. */
export function explainHeader(record: ExchangeRecord): string {
  return shortForm(record, MAX_HEADER_CHARACTERS);
}

/**
 * An explanation as a comment between the events of a stream, which clients pass over (WHATWG HTML
 * 9.2.6).
 */
export function explainComment(record: ExchangeRecord): string {
  return `: ${EXPLAIN_HEADER} ${shortForm(record, MAX_COMMENT_CHARACTERS)}\n\n`;
}

/**
 * JSON without empty members, and with file names for paths. A text that is too long loses its
 * steps, then its attempts.
 */
function shortForm(record: ExchangeRecord, maxCharacters: number): string {
  const { steps, attempts, ...rest } = describeRecord(
    record,
    ({ file, line }) => `${basename(file)}:${line}`,
  );
  // A step's condition may name other keys and teams.
  const shown = steps.map(({ when: _when, ...step }) => step);
  const forms = [
    { ...rest, steps: shown, attempts },
    { ...rest, attempts, omitted: ["steps"] },
    { ...rest, omitted: ["steps", "attempts"] },
    { request_id: record.id, omitted: ["everything"] },
  ].map(compact);
  return forms.find(({ length }) => length <= maxCharacters) ?? "";
}

function compact(value: object): string {
  const isEmpty = (member: unknown): boolean =>
    member === null || (Array.isArray(member) && member.length === 0);
  const text = JSON.stringify(value, (_name, member: unknown) =>
    isEmpty(member) ? undefined : member,
  );
  return text.replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The explanation of a record. `placeOf` writes the place of a step. */
export function describeRecord(
  record: ExchangeRecord,
  placeOf: (at: Position) => string = ({ file, line }) => `${file}:${line}`,
) {
  const { outline } = record;
  return {
    request_id: record.id,
    source: "memory",
    route: `${outline.method} ${outline.path}`,
    operation: outline.operation,
    pipeline: outline.pipeline,
    generation: record.generation,
    key: record.keyId === null ? null : { id: record.keyId, alias: record.keyAlias ?? null },
    model: record.model ?? null,
    stream: record.stream,
    started_at: new Date(record.startedAtMs).toISOString(),
    status: record.status ?? null,
    error: record.errorCode ?? null,
    total_ms: micros(record.totalMs),
    overhead_ms: record.overheadMs === undefined ? null : micros(record.overheadMs),
    body_ms: micros(record.bodyMs),
    steps: outline.steps.map(({ name, at, when }, place) => ({
      step: name,
      at: placeOf(at),
      when: when ?? null,
      ...stepOutcome(record, place),
      runs: record.runs[place] ?? 0,
      ms: place < record.ownMs.length ? micros(record.ownMs[place] ?? 0) : null,
      decisions: record.notes.filter((note) => placeOfNote(note, record) === place).map(sentenceOf),
    })),
    attempts: record.attempts.map(describeAttempt),
  };
}

/** An attempt. Its times are milliseconds from the start of the request. */
export function describeAttempt(attempt: AttemptRecord) {
  return {
    attempt: attempt.attempt,
    deployment: attempt.targetId,
    provider: attempt.provider,
    model: attempt.model,
    outcome: attempt.outcome,
    status: attempt.status ?? null,
    error: attempt.errorCode,
    start_ms: attempt.startMs,
    first_content_ms: attempt.firstContentMs ?? null,
    end_ms: attempt.endMs,
    upstream_ms: attempt.upstreamMs === undefined ? null : micros(attempt.upstreamMs),
    prompt_tokens: attempt.promptTokens,
    completion_tokens: attempt.completionTokens,
    total_tokens: attempt.totalTokens,
    usage_source: attempt.usageSource,
    cost: attempt.costNanoUsd === null ? null : dollarsOf(attempt.costNanoUsd),
    cost_status: attempt.costStatus,
    upstream_request_id: attempt.upstreamRequestId,
    completion_id: attempt.completionId,
  };
}

/** The outcome of a step. The innermost step that ran without a failure answered. */
function stepOutcome(
  { runs, failures }: ExchangeRecord,
  place: number,
): { outcome: string; error: string | null } {
  if (place >= runs.length) return { outcome: "not reached", error: null };
  const error = failures?.[place];
  if (error !== undefined) return { outcome: "failed", error };
  return { outcome: place === runs.length - 1 ? "answered" : "passed", error: null };
}

/**
 * The step of a note: of the steps with its name, the one that was running or around the running
 * one, or else the first.
 */
function placeOfNote({ step, place }: StepNote, { outline: { steps } }: ExchangeRecord): number {
  const around = steps.findLastIndex(({ name }, index) => name === step && index <= place);
  return around >= 0 ? around : steps.findIndex(({ name }) => name === step);
}

function sentenceOf({ text, about }: StepNote): string {
  return about === undefined ? text : `${text}: ${about}`;
}

/** Milliseconds with three decimals. */
function micros(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
