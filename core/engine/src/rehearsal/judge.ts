/** What came, held against what a test expects. */

import { ERROR_CODES, type ErrorCode, type SpendRow } from "@sluice/spec";
import type { TestExpectSection } from "../config/schema/pipeline-tests.ts";
import type { CallBook } from "./call-book.ts";
import { describe, readPath, sameValue } from "./values.ts";
import type { ReceivedReply } from "./send.ts";

/** Everything that came of a test. */
export interface Outcome {
  readonly reply: ReceivedReply;
  readonly book: Pick<CallBook, "calls" | "surplus" | "isScripted">;
  readonly rows: readonly SpendRow[];
  /** `undefined` for what was refused before there was an exchange, and for what went well. */
  readonly errorCode: string | undefined;
  readonly complaints: readonly string[];
}

/** An expectation that does not hold. */
export interface Miss {
  /** The key of `expect`, or none for what no expectation names. */
  readonly key: keyof TestExpectSection | undefined;
  /** `expected status 200, but 401 came`. */
  readonly what: string;
}

/** Every expectation that does not hold. */
export function misses(expect: TestExpectSection, outcome: Outcome): Miss[] {
  const found: Miss[] = [];
  for (const key of Object.keys(expect) as (keyof TestExpectSection)[]) {
    for (const what of JUDGES[key](expect as never, outcome)) found.push({ key, what });
  }
  const { book } = outcome;
  if (book.isScripted && book.surplus > 0) {
    const named = book.calls.length - book.surplus;
    found.push({ key: undefined, what: `there were ${book.calls.length} upstream calls, and \`upstream\` names ${named}` });
  } else if (!book.isScripted && book.surplus > 0 && outcome.reply.status >= 500) {
    found.push({ key: undefined, what: "an upstream was called, and the test has no `upstream` that says what it answers" });
  }
  return found;
}

type Judge = (expect: Required<TestExpectSection>, outcome: Outcome) => string[];

const JUDGES: Readonly<Record<keyof TestExpectSection, Judge>> = {
  status: ({ status }, outcome) =>
    outcome.reply.status === status ? [] : [`expected status ${status}, but ${cameOf(outcome)} came`],
  error: ({ error }, outcome) => (hasError(error, outcome) ? [] : [`expected the error ${error}, but ${cameOf(outcome)} came`]),
  headers: ({ headers }, { reply }) =>
    Object.entries(headers).flatMap(([name, value]) => {
      const came = reply.headers[name.toLowerCase()];
      if (came !== undefined && (value === "*" || came === value)) return [];
      const said = came === undefined ? "none came" : `${describe(came)} came`;
      return [value === "*" ? `expected a header ${name}, but ${said}` : `expected ${name}: ${value}, but ${said}`];
    }),
  headers_lack: ({ headers_lack: names }, { reply }) =>
    names
      .filter((name) => reply.headers[name.toLowerCase()] !== undefined)
      .map((name) => `expected no header ${name}, but ${describe(reply.headers[name.toLowerCase()])} came`),
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
  targets: ({ targets }, { book }) => {
    const came = book.calls.map(({ target }) => target);
    return sameValue(came, targets) ? [] : [`expected calls of ${listed(targets)}, but they were of ${listed(came)}`];
  },
  upstream_calls: ({ upstream_calls: count }, { book }) =>
    book.calls.length === count
      ? []
      : [`expected ${count} upstream call${count === 1 ? "" : "s"}, but there ${wasOrWere(book.calls.length)}`],
  upstream_body: ({ upstream_body: members }, { book }) => {
    const last = book.calls.at(-1);
    return last === undefined ? ["expected an upstream call, but there was none"] : unequal("upstream_body", members, last.body);
  },
  upstream_body_has: ({ upstream_body_has: texts }, { book }) =>
    [texts]
      .flat()
      .filter((text) => !book.calls.some(({ body }) => body.includes(text)))
      .map((text) => {
        const came = book.calls.length === 0 ? "there was none" : `there was ${describe(book.calls.at(-1)?.body)}`;
        return `expected an upstream body with ${describe(text)}, but ${came}`;
      }),
  upstream_body_lacks: ({ upstream_body_lacks: texts }, { book }) =>
    [texts]
      .flat()
      .filter((text) => book.calls.some(({ body }) => body.includes(text)))
      .map((text) => `expected no upstream body with ${describe(text)}, but there was one`),
  rows: ({ rows }, outcome) => {
    const came = outcome.rows.map(({ status }) => status);
    return sameValue(came, rows) ? [] : [`expected the rows ${listed(rows)}, but they were ${listed(came)}`];
  },
  cost: ({ cost }, { rows }) => {
    const known = rows.flatMap(({ costNanoUsd }) => (costNanoUsd === null ? [] : [costNanoUsd]));
    if (known.length < rows.length) return [`expected a cost of $${cost}, but a row has no known cost`];
    const came = known.reduce((sum, nanoUsd) => sum + nanoUsd, 0);
    return came === Math.round(cost * 1e9) ? [] : [`expected a cost of $${cost}, but it was $${came / 1e9}`];
  },
};

function unequal(what: string, members: Readonly<Record<string, unknown>>, text: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [`expected a JSON ${what}, but ${describe(text)} came`];
  }
  return Object.entries(members).flatMap(([path, expected]) => {
    const came = readPath(value, path);
    if (sameValue(came, expected)) return [];
    return [`expected ${path} = ${describe(expected)}, but ${came === undefined ? "nothing" : describe(came)} came`];
  });
}

/** A status for people: with the error's code and message where it is one. */
function cameOf({ reply, errorCode, complaints }: Outcome): string {
  if (reply.status < 400) return String(reply.status);
  let message: unknown;
  try {
    message = readPath(JSON.parse(reply.body), "error.message");
  } catch {
    message = undefined;
  }
  const code = errorCode === undefined ? "" : ` ${errorCode}`;
  const cause = complaints.length === 0 ? "" : `, because of ${describe(complaints.at(-1))}`;
  return `${reply.status}${code}${typeof message === "string" ? ` (${message})` : ""}${cause}`;
}

/** What was refused before there was an exchange is known by its status and type alone. */
function hasError(error: string, { reply, errorCode }: Outcome): boolean {
  if (errorCode !== undefined) return errorCode === error;
  const info = ERROR_CODES[error as ErrorCode] as (typeof ERROR_CODES)[ErrorCode] | undefined;
  return info?.status === reply.status;
}

/** What a reply says: the content of all choices, whole or put together from a stream. */
function textOf({ headers, body }: ReceivedReply): string {
  const isStream = String(headers["content-type"]).startsWith("text/event-stream");
  const documents = isStream
    ? [...body.matchAll(/^data: (\{.*\})$/gm)].map(([, json = ""]) => JSON.parse(json) as unknown)
    : [parsed(body)];
  const path = isStream ? "choices[0].delta.content" : "choices[0].message.content";
  return documents.map((document) => readPath(document, path) ?? "").join("");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
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
