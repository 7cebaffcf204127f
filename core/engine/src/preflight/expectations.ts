/** Compares the outcome of a test with its expectations. */

import { ERROR_CODES, type ErrorCode, type SpendRow } from "@sluice/contract";
import { configuredNanoUsd, dollarsOf } from "@sluice/runtime";
import { parseJson } from "@sluice/kit";
import type { TestExpectSection } from "../config/schema/pipeline-tests.ts";
import type { ScriptedUpstreamLog } from "./upstream-log.ts";
import { describe, readPath, sameValue } from "./values.ts";
import type { ReceivedReply } from "../http/in-memory.ts";

/** The observable outcome of a test. */
export interface Outcome {
  readonly reply: ReceivedReply;
  readonly upstreamLog: Pick<ScriptedUpstreamLog, "calls" | "surplus" | "isScripted">;
  readonly rows: readonly SpendRow[];
  /** `undefined` for a success, and for a request that was refused before an exchange began. */
  readonly errorCode: string | undefined;
  readonly errors: readonly string[];
}

/** An expectation that does not hold. */
export interface UnmetExpectation {
  /** The key of `expect`; `undefined` for a failure that belongs to no key. */
  readonly key: keyof TestExpectSection | undefined;
  /** `expected status 200, but 401 came`. */
  readonly what: string;
}

/** Every expectation that does not hold. */
export function unmetExpectations(expect: TestExpectSection, outcome: Outcome): UnmetExpectation[] {
  const found: UnmetExpectation[] = [];
  for (const key of Object.keys(expect) as (keyof TestExpectSection)[]) {
    for (const what of EXPECTATIONS[key](expect as never, outcome)) found.push({ key, what });
  }
  const { upstreamLog } = outcome;
  if (upstreamLog.isScripted && upstreamLog.surplus > 0) {
    const named = upstreamLog.calls.length - upstreamLog.surplus;
    found.push({
      key: undefined,
      what: `there were ${upstreamLog.calls.length} upstream calls, and \`upstream\` names ${named}`,
    });
  } else if (!upstreamLog.isScripted && upstreamLog.surplus > 0 && outcome.reply.status >= 500) {
    found.push({
      key: undefined,
      what: "an upstream was called, and the test has no `upstream` that says what it answers",
    });
  }
  return found;
}

type Expectation = (expect: Required<TestExpectSection>, outcome: Outcome) => string[];

const EXPECTATIONS: Readonly<Record<keyof TestExpectSection, Expectation>> = {
  status: ({ status }, outcome) =>
    outcome.reply.status === status
      ? []
      : [`expected status ${status}, but ${cameOf(outcome)} came`],
  error: ({ error }, outcome) =>
    hasError(error, outcome) ? [] : [`expected the error ${error}, but ${cameOf(outcome)} came`],
  headers: ({ headers }, { reply }) =>
    Object.entries(headers).flatMap(([name, value]) => {
      const came = reply.headers[name.toLowerCase()];
      if (came !== undefined && (value === "*" || came === value)) return [];
      const said = came === undefined ? "none came" : `${describe(came)} came`;
      return [
        value === "*"
          ? `expected a header ${name}, but ${said}`
          : `expected ${name}: ${value}, but ${said}`,
      ];
    }),
  headers_lack: ({ headers_lack: names }, { reply }) =>
    names
      .filter((name) => reply.headers[name.toLowerCase()] !== undefined)
      .map(
        (name) =>
          `expected no header ${name}, but ${describe(reply.headers[name.toLowerCase()])} came`,
      ),
  body: ({ body }, { reply }) => unequal("body", body, reply.body),
  body_has: ({ body_has: texts }, { reply }) =>
    [texts]
      .flat()
      .filter((text) => !reply.body.includes(text))
      .map((text) => `expected a body with ${describe(text)}, but ${describe(reply.body)} came`),
  body_lacks: ({ body_lacks: texts }, { reply }) =>
    [texts]
      .flat()
      .filter((text) => reply.body.includes(text))
      .map((text) => `expected a body without ${describe(text)}, but ${describe(reply.body)} came`),
  text: ({ text }, { reply }) => {
    const came = textOf(reply);
    return came === text ? [] : [`expected the text ${describe(text)}, but ${describe(came)} came`];
  },
  targets: ({ targets }, { upstreamLog }) => {
    const came = upstreamLog.calls.map(({ target }) => target);
    return sameValue(came, targets)
      ? []
      : [`expected calls of ${listed(targets)}, but they were of ${listed(came)}`];
  },
  upstream_calls: ({ upstream_calls: count }, { upstreamLog }) =>
    upstreamLog.calls.length === count
      ? []
      : [
          `expected ${count} upstream call${count === 1 ? "" : "s"}, but there ${wasOrWere(upstreamLog.calls.length)}`,
        ],
  upstream_body: ({ upstream_body: members }, { upstreamLog }) => {
    const last = upstreamLog.calls.at(-1);
    return last === undefined
      ? ["expected an upstream call, but there was none"]
      : unequal("upstream_body", members, last.body);
  },
  upstream_body_has: ({ upstream_body_has: texts }, { upstreamLog }) =>
    [texts]
      .flat()
      .filter((text) => !upstreamLog.calls.some(({ body }) => body.includes(text)))
      .map((text) => {
        const came =
          upstreamLog.calls.length === 0
            ? "there was none"
            : `there was ${describe(upstreamLog.calls.at(-1)?.body)}`;
        return `expected an upstream body with ${describe(text)}, but ${came}`;
      }),
  upstream_body_lacks: ({ upstream_body_lacks: texts }, { upstreamLog }) =>
    [texts]
      .flat()
      .filter((text) => upstreamLog.calls.some(({ body }) => body.includes(text)))
      .map((text) => `expected no upstream body with ${describe(text)}, but there was one`),
  rows: ({ rows }, outcome) => {
    const came = outcome.rows.map(({ status }) => status);
    return sameValue(came, rows)
      ? []
      : [`expected the rows ${listed(rows)}, but they were ${listed(came)}`];
  },
  cost: ({ cost }, { rows }) => {
    const known = rows.flatMap(({ costNanoUsd }) => (costNanoUsd === null ? [] : [costNanoUsd]));
    if (known.length < rows.length)
      return [`expected a cost of $${cost}, but a row has no known cost`];
    const came = known.reduce((sum, nanoUsd) => sum + nanoUsd, 0);
    return came === configuredNanoUsd(cost)
      ? []
      : [`expected a cost of $${cost}, but it was $${dollarsOf(came)}`];
  },
};

function unequal(what: string, members: Readonly<Record<string, unknown>>, text: string): string[] {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return [`expected a JSON ${what}, but ${describe(text)} came`];
  }
  return Object.entries(members).flatMap(([path, expected]) => {
    const came = readPath(value, path);
    if (sameValue(came, expected)) return [];
    return [
      `expected ${path} = ${describe(expected)}, but ${came === undefined ? "nothing" : describe(came)} came`,
    ];
  });
}

/** The status as text, with code, message and cause of an error. */
function cameOf({ reply, errorCode, errors }: Outcome): string {
  if (reply.status < 400) return String(reply.status);
  let message: unknown;
  try {
    message = readPath(parseJson(reply.body), "error.message");
  } catch {
    message = undefined;
  }
  const code = errorCode === undefined ? "" : ` ${errorCode}`;
  const cause = errors.length === 0 ? "" : `, because of ${describe(errors.at(-1))}`;
  return `${reply.status}${code}${typeof message === "string" ? ` (${message})` : ""}${cause}`;
}

/**
 * Whether the reply is this error. A request refused before an exchange began is compared by status
 * and type alone.
 */
function hasError(error: string, { reply, errorCode }: Outcome): boolean {
  if (errorCode !== undefined) return errorCode === error;
  const info = ERROR_CODES[error as ErrorCode] as (typeof ERROR_CODES)[ErrorCode] | undefined;
  return info?.status === reply.status;
}

/**
 * The JSON of an event. A line of an event ends at CR or LF alone. For `.` and the flag `m` it also
 * ends at U+2028 and U+2029, which JSON allows in strings.
 */
const DATA = /(?<![^\r\n])data: (\{[^\r\n]*\})(?![^\r\n])/g;

/** What a reply says: the content of all choices, whole or put together from a stream. */
function textOf({ headers, body }: ReceivedReply): string {
  const isStream = String(headers["content-type"]).startsWith("text/event-stream");
  const documents = isStream
    ? [...body.matchAll(DATA)].map(([, json = ""]) => parseJson(json) as unknown)
    : [parsed(body)];
  const path = isStream ? "choices[0].delta.content" : "choices[0].message.content";
  return documents.map((document) => readPath(document, path) ?? "").join("");
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function wasOrWere(count: number): string {
  return count === 0 ? "was none" : count === 1 ? "was 1" : `were ${count}`;
}

function listed(names: readonly string[]): string {
  return `[${names.join(", ")}]`;
}
