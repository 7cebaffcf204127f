/** A played request as a test of its pipeline: an entry of `tests:`. */

import type { Trace } from "../../api/requests.ts";
import type { Body } from "./draft.ts";
import type { Said } from "./reply.ts";

/** What a test is made of. */
export interface Played {
  readonly route: string;
  readonly body: Body;
  readonly said: Said;
  readonly status: number;
  readonly trace: Trace;
}

const MAX_NAME = 60;

/**
 * The entry, as lines of YAML. Every value is JSON, which is YAML too. The upstream's behaviour is
 * that of each call, so that the test needs no upstream.
 */
export function asTest({ route, body, said, status, trace }: Played): string {
  const { attempts, error } = trace;
  const isAnswered = status === 200;
  const calls = attempts.filter(({ provider }) => provider !== "echo");
  const upstream = calls.map((call) =>
    call.outcome === "success" && isAnswered ? replyOf(said) : failureOf(call.status),
  );
  // What the cache answered is asked of the upstream in a test, whose cache is empty.
  if (isAnswered && attempts.length === 0) upstream.push(replyOf(said));
  const expect = {
    status,
    ...(error !== null && !isAnswered && { error }),
    ...(isAnswered && said.text !== "" && { text: literal(said.text) }),
    ...(attempts.length === 0 && !isAnswered && { upstream_calls: 0 }),
    ...(attempts.length > 0 && {
      targets: attempts.map(({ deployment }) => deployment),
      rows: attempts.map(({ outcome }) => outcome),
    }),
  };
  return [
    `  - name: ${JSON.stringify(literal(nameOf(body, isAnswered)))}`,
    `    route: ${JSON.stringify(route)}`,
    `    request: ${requestOf(body)}`,
    ...(upstream.length > 0 ? [`    upstream: ${JSON.stringify(upstream)}`] : []),
    `    expect: ${JSON.stringify(expect)}`,
    `    timeout: 10s`,
    "",
  ].join("\n");
}

function nameOf({ model, messages }: Body, isAnswered: boolean): string {
  const list = Array.isArray(messages) ? (messages as readonly { content?: unknown }[]) : [];
  const last = list.at(-1)?.content;
  const about = typeof last === "string" ? ` ${last.replaceAll(/\s+/g, " ").trim()}` : "";
  const what = isAnswered ? "answers" : "refuses";
  return `${String(model)} ${what}:${about}`.slice(0, MAX_NAME).toWellFormed();
}

/** A body as text, where it would hold what the configuration takes for a reference. */
function requestOf(body: Body): string {
  const text = JSON.stringify(body);
  return text.includes("${") ? JSON.stringify(text.replaceAll("$", "\\u0024")) : text;
}

function replyOf({ text, toolCalls, finish }: Said): object {
  return {
    reply: literal(text),
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map((call) => ({ ...call, arguments: literal(call.arguments) })),
    }),
    ...(finish !== undefined && finish !== "stop" && { finish_reason: finish }),
  };
}

function failureOf(status: number | null): object {
  return status === null || status < 400 ? { refused: true } : { status };
}

/** A text that the configuration takes for no reference. */
function literal(text: string): string {
  return text.replaceAll("${", "$ {");
}
