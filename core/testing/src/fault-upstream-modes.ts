/**
 * The faults of an upstream over plain TCP: the script of each, and the expected answer to the
 * client.
 */

import { gzipSync } from "node:zlib";
import {
  delta,
  DONE,
  errorBody,
  event,
  GOOD_STREAM,
  goodBody,
  ROLE,
  type Stage,
  STOP,
  USAGE,
  USAGE_CHUNK,
  WORDS,
} from "./fault-upstream-stage.ts";

/**
 * How a request must end: well, as an error reply, or, `late`, as one error event behind the first
 * content. `retryAfter` says whether that header must stand in the reply or must not.
 */
export type FaultOutcome =
  | "good"
  | {
      readonly status: number;
      readonly type: string;
      readonly late?: true;
      readonly retryAfter?: boolean;
    };

/** One mode. An outcome that is absent cannot happen to this kind of request. */
export interface Fault {
  /** The row of the catalogue and a word: `u8-silence`. */
  readonly mode: string;
  readonly whole?: FaultOutcome;
  readonly stream?: FaultOutcome;
  play(stage: Stage): void | Promise<void>;
}

type Play = Fault["play"];

const UNREADABLE: FaultOutcome = { status: 502, type: "upstream_error" };
const TIMEOUT: FaultOutcome = { status: 504, type: "timeout_error" };
const OVERLOADED: FaultOutcome = { status: 503, type: "overloaded_error" };
const late = (outcome: Exclude<FaultOutcome, "good">): FaultOutcome => ({ ...outcome, late: true });
const CUT = late(UNREADABLE);
const LATE_TIMEOUT = late(TIMEOUT);

const both = (mode: string, outcome: FaultOutcome, play: Play): Fault => ({
  mode,
  whole: outcome,
  stream: outcome,
  play,
});
const split = (mode: string, whole: FaultOutcome, stream: FaultOutcome, play: Play): Fault => ({
  mode,
  whole,
  stream,
  play,
});
const streamed = (mode: string, stream: FaultOutcome, play: Play): Fault => ({
  mode,
  stream,
  play,
});
const refused = (
  mode: string,
  status: number,
  outcome: FaultOutcome,
  body: string,
  ...lines: string[]
): Fault => both(mode, outcome, (stage) => stage.reply(status, body, ...lines));
/** A good stream whose text is this one; good in one piece. */
const spoken = (mode: string, stream: FaultOutcome, text: string): Fault =>
  split(mode, "good", stream, (stage) => (stage.isStream ? stage.good(text) : stage.good()));
/** A 200 whose body is this one, whatever was asked for. */
const said = (
  mode: string,
  outcome: FaultOutcome,
  body: string,
  type = "application/json",
): Fault => both(mode, outcome, (stage) => stage.reply(200, body, `content-type: ${type}`));

const LIMITED = { status: 429, type: "rate_limit_error" };
const ODD = event('{"choices":[{"delta"');
const TEXT = WORDS.join("");
const CONTENT = `${ROLE}${TEXT}`;
const TINY = delta({ content: "x" });
const TOOLS = [0, 1, 0, 1].map((index, at) =>
  delta({
    tool_calls: [
      {
        index,
        ...(at < 2 ? { id: `call_${index}`, type: "function" } : {}),
        function: { arguments: "{}" },
      },
    ],
  }),
);

export const FAULTS: readonly Fault[] = [
  both("u7-fin", UNREADABLE, (stage) => stage.end()),
  both("u7-reset", UNREADABLE, (stage) => stage.reset()),
  both("u8-silence", TIMEOUT, () => undefined),
  both("u9-half-header", TIMEOUT, (stage) => stage.write("HTTP/1.1 200 OK\r\ncontent-ty")),
  both("u10-many-1xx", UNREADABLE, (stage) => stage.repeat(2, () => stage.head(102))),
  both("u10-slow-1xx", TIMEOUT, (stage) => stage.repeat(200, () => stage.head(103))),
  both("u11-early-hints", "good", (stage) => {
    stage.head(103, "link: </a>; rel=preload");
    stage.good();
  }),
  both("u12-101", UNREADABLE, (stage) =>
    stage.head(101, "connection: upgrade", "upgrade: websocket"),
  ),
  split("u13-hang", TIMEOUT, LATE_TIMEOUT, (stage) => stage.begin()),
  streamed("u14-hang-before-content", TIMEOUT, (stage) => {
    stage.openStream();
    stage.chunk(ROLE);
  }),
  streamed("u14-pings", LATE_TIMEOUT, (stage) => {
    stage.begin();
    return stage.repeat(40, () => stage.chunk(": ping\n\n"));
  }),
  split("u15-drip", TIMEOUT, LATE_TIMEOUT, async (stage) => {
    if (stage.isStream) stage.begin();
    else stage.head(200, "content-type: application/json", "content-length: 1000000");
    await stage.repeat(50, () => (stage.isStream ? stage.chunk("d") : stage.write(" ")));
  }),
  both("u16-bytes", "good", async (stage) => {
    stage.bill(WORDS.length);
    const body = stage.isStream ? GOOD_STREAM : goodBody();
    if (stage.isStream)
      stage.head(200, "content-type: text/event-stream", `content-length: ${body.length}`);
    else stage.head(200, "content-type: application/json", `content-length: ${body.length}`);
    for (const byte of body) {
      stage.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }),
  split("u17-fin", UNREADABLE, CUT, (stage) => {
    stage.begin();
    if (stage.isStream) stage.closeStream();
    stage.end();
  }),
  streamed("u17-fin-without-chunk-end", CUT, (stage) => {
    stage.begin();
    stage.end();
  }),
  streamed("u17-no-usage", CUT, (stage) => stage.good(`${CONTENT}${STOP}`)),
  streamed("u17-only-end-mark-missing", "good", (stage) =>
    stage.good(`${CONTENT}${STOP}${USAGE_CHUNK}`),
  ),
  split("u18-reset", UNREADABLE, CUT, async (stage) => {
    stage.begin();
    await stage.pause(60);
    stage.reset();
  }),
  streamed("u19-more-after-the-end", "good", (stage) => stage.good(`${GOOD_STREAM}${TINY}${ODD}`)),
  streamed("u19-endless-after-the-end", "good", (stage) => {
    stage.openStream();
    stage.chunk(GOOD_STREAM);
    stage.bill(WORDS.length);
    return stage.repeat(10, () => stage.chunk(TINY));
  }),
  streamed("u20-open-after-the-end", "good", (stage) => {
    stage.openStream();
    stage.bill(WORDS.length);
    stage.chunk(GOOD_STREAM);
  }),
  both("u21-error-first", UNREADABLE, (stage) => sayError(stage, event(errorBody("server_error")))),
  both("u21-overloaded-first", OVERLOADED, (stage) =>
    sayError(stage, `event: error\n${event(errorBody("overloaded_error"))}`),
  ),
  streamed("u21-error-later", CUT, (stage) =>
    stage.good(`${CONTENT}event: error\n${event(errorBody("server_error"))}`),
  ),
  streamed("u21-named-error-later", CUT, (stage) =>
    stage.good(`${CONTENT}event: error\n${event({ message: "no" })}`),
  ),
  streamed("u21-bare-error-later", CUT, (stage) =>
    stage.good(`${CONTENT}${event({ error: "no" })}`),
  ),
  said("u22-error-object", UNREADABLE, errorBody("server_error")),
  said("u22-empty", UNREADABLE, ""),
  said("u22-null", UNREADABLE, "null"),
  said("u22-array", UNREADABLE, "[]"),
  said("u22-empty-stream", UNREADABLE, DONE, "text/event-stream"),
  said("u23-truncated", UNREADABLE, goodBody().slice(0, -20)),
  said("u23-trailing-comma", UNREADABLE, goodBody().replace(/}$/, ",}")),
  said("u23-nan", UNREADABLE, goodBody().replace(/"created":\d+/, '"created":NaN')),
  said("u23-bom", "good", `\uFEFF${goodBody()}`),
  said(
    "u24-no-choices",
    UNREADABLE,
    JSON.stringify({ id: "x", object: "chat.completion", usage: USAGE }),
  ),
  said("u24-null-choices", UNREADABLE, JSON.stringify({ id: "x", choices: null, usage: USAGE })),
  streamed("u24-no-chunks", UNREADABLE, (stage) => stage.good(`${event({ hello: 1 })}${DONE}`)),
  spoken("u25-cr", "good", GOOD_STREAM.replaceAll("\n", "\r")),
  spoken(
    "u25-crlf-and-comments",
    "good",
    `\uFEFF: hi\r\nretry: 9\r\n${GOOD_STREAM.replaceAll("\n", "\r\n: x\r\n").replaceAll("data: ", "id: 1\r\ndata:").replaceAll("\r\n: x\r\n\r\n", "\r\n\r\n").replaceAll(": x\r\n: x", ": x\r\n")}`,
  ),
  spoken(
    "u26-wide-characters",
    "good",
    `${ROLE}${delta({ content: "größe 😀" })}${STOP}${USAGE_CHUNK}${DONE}`,
  ),
  streamed("u27-invalid-utf8", "good", (stage) => {
    const [before = "", after = ""] = GOOD_STREAM.split("quick");
    stage.openStream();
    stage.bill(WORDS.length);
    stage.chunk(
      Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xc3, 0x28]), Buffer.from(after)]),
    );
    stage.closeStream();
  }),
  streamed("u28-long-line", UNREADABLE, (stage) =>
    stage.good(`${ROLE}data: ${"x".repeat(9 * 1024 * 1024)}`),
  ),
  streamed("u28-long-line-later", CUT, (stage) =>
    stage.good(`${CONTENT}data: ${"x".repeat(9 * 1024 * 1024)}`),
  ),
  streamed("u29-many-events", "good", (stage) =>
    stage.good(`${TINY.repeat(20_000)}${STOP}${USAGE_CHUNK}${DONE}`),
  ),
  spoken("u30-one-odd-event", "good", `${ROLE}${ODD}${TEXT}${STOP}${USAGE_CHUNK}${DONE}`),
  spoken("u30-four-odd-events", CUT, `${CONTENT}${ODD.repeat(4)}${STOP}${USAGE_CHUNK}${DONE}`),
  said("u31-json-for-a-stream", "good", goodBody()),
  said("u32-html", UNREADABLE, "<html>Sign in</html>", "text/html"),
  both("u33-gzip", UNREADABLE, (stage) =>
    stage.reply(200, gzipSync(goodBody()), "content-encoding: gzip"),
  ),
  both("u34-bomb", UNREADABLE, (stage) =>
    stage.reply(200, gzipSync(Buffer.alloc(8 * 1024 * 1024)), "content-encoding: gzip, gzip"),
  ),
  refused("u35-redirect", 302, UNREADABLE, "", "location: http://127.0.0.1:9/secret"),
  refused(
    "u36-429-seconds",
    429,
    { ...LIMITED, retryAfter: true },
    errorBody("rate_limit_error"),
    "retry-after: 2",
  ),
  refused(
    "u37-429-malformed",
    429,
    { ...LIMITED, retryAfter: false },
    errorBody("rate_limit_error"),
    "retry-after: soon",
  ),
  refused(
    "u37-429-date",
    429,
    { ...LIMITED, retryAfter: true },
    errorBody("rate_limit_error"),
    "date: Fri, 20 Nov 2026 10:00:00 GMT",
    "retry-after: Fri, 20 Nov 2026 10:00:09 GMT",
  ),
  refused(
    "u38-quota",
    429,
    { ...LIMITED, retryAfter: false },
    errorBody("insufficient_quota", "insufficient_quota"),
    "retry-after: 2",
  ),
  refused("u39-500", 500, UNREADABLE, errorBody("server_error")),
  refused("u39-502", 502, UNREADABLE, "<html>Bad gateway</html>", "content-type: text/html"),
  refused("u39-503", 503, OVERLOADED, errorBody("server_error")),
  refused("u39-504", 504, TIMEOUT, ""),
  refused("u40-529", 529, OVERLOADED, errorBody("overloaded_error")),
  refused("u41-401", 401, UNREADABLE, errorBody("authentication_error")),
  refused("u41-403", 403, UNREADABLE, errorBody("permission_error")),
  refused(
    "u42-404",
    404,
    { status: 404, type: "invalid_request_error" },
    errorBody("not_found_error", "model_not_found"),
  ),
  both("u39-500-endless-body", UNREADABLE, (stage) => {
    stage.head(500, "content-type: text/plain", "transfer-encoding: chunked");
    return stage.repeat(5, () => stage.chunk("x".repeat(20_000)));
  }),
  split("u43-endless", UNREADABLE, LATE_TIMEOUT, (stage) => {
    if (stage.isStream) {
      stage.openStream();
      return stage.repeat(20, () => {
        stage.chunk(TINY.repeat(100));
        stage.bill(stage.record.billedTokens + 100);
      });
    }
    stage.head(200, "content-type: application/json", "transfer-encoding: chunked");
    return stage.repeat(1, () => stage.chunk(" ".repeat(2 * 1024 * 1024)));
  }),
  both("u44-large-header", UNREADABLE, (stage) =>
    stage.reply(200, goodBody(), `x-large: ${"x".repeat(20_000)}`),
  ),
  both("u44-many-headers", UNREADABLE, (stage) =>
    stage.reply(200, goodBody(), ...Array<string>(300).fill("x: y")),
  ),
  both("u45-length-and-chunks", UNREADABLE, (stage) =>
    stage.reply(200, goodBody(), "transfer-encoding: chunked"),
  ),
  both("u45-two-lengths", UNREADABLE, (stage) => stage.reply(200, goodBody(), "content-length: 3")),
  both("u45-negative-length", UNREADABLE, (stage) => stage.head(200, "content-length: -5")),
  both("u45-bad-chunk", UNREADABLE, (stage) => {
    stage.openStream();
    stage.write("zz\r\nnonsense\r\n");
  }),
  streamed("u45-bad-chunk-later", CUT, (stage) => {
    stage.begin();
    stage.write("zz\r\nnonsense\r\n");
  }),
  both("u46-poison", "good", (stage) => {
    stage.good();
    stage.write(
      "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 8\r\n\r\npoisoned",
    );
  }),
  both("u47-http-1.0", "good", (stage) => {
    const type = stage.isStream ? "text/event-stream" : "application/json";
    stage.bill(WORDS.length);
    stage.write(
      `HTTP/1.0 200 OK\r\ncontent-type: ${type}\r\n\r\n${stage.isStream ? GOOD_STREAM : goodBody()}`,
    );
    stage.end();
  }),
  split("u48-short-length", UNREADABLE, CUT, (stage) => {
    stage.bill(WORDS.length);
    if (!stage.isStream)
      return stage.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 30\r\n\r\n${goodBody()}`,
      );
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream";
    stage.write(`${head}\r\ncontent-length: ${CONTENT.length + 9}\r\n\r\n${GOOD_STREAM}`);
  }),
  both("u49-trailers", "good", (stage) => {
    stage.bill(WORDS.length);
    stage.head(
      200,
      `content-type: ${stage.isStream ? "text/event-stream" : "application/json"}`,
      "transfer-encoding: chunked",
    );
    stage.chunk(stage.isStream ? GOOD_STREAM : goodBody());
    stage.closeStream("x-trailer: 1\r\n");
  }),
  refused("u50-417", 417, UNREADABLE, ""),
  both("u51-early-413", { status: 413, type: "invalid_request_error" }, (stage) => {
    stage.reply(413, errorBody("invalid_request_error"), "connection: close");
    stage.end();
  }),
  streamed("u55-usage-twice", "good", (stage) =>
    stage.good(`${CONTENT}${STOP}${USAGE_CHUNK}${USAGE_CHUNK}${DONE}`),
  ),
  streamed("u55-no-usage", "good", (stage) => stage.good(`${CONTENT}${STOP}${DONE}`)),
  split("u56-other-model", "good", "good", (stage) =>
    stage.isStream
      ? stage.good(GOOD_STREAM.replaceAll('"fault"', '"other"'))
      : stage.good(goodBody("hi", "other")),
  ),
  streamed("u57-tools", "good", (stage) =>
    stage.good(`${ROLE}${TOOLS.join("")}${STOP}${USAGE_CHUNK}${DONE}`),
  ),
];

/** An error inside a 200: the first event of a stream, or the whole body. */
function sayError(stage: Stage, text: string): void {
  if (stage.isStream) stage.good(text);
  else stage.reply(200, text.slice(text.indexOf("data: ") + 6));
  stage.bill(0);
}
