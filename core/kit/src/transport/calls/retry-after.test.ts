import { describe, expect, it } from "vitest";
import { readRetryAfterMs } from "./retry-after.ts";

const DATE = "Wed, 21 Oct 2026 07:28:00 GMT";

describe("readRetryAfterMs", () => {
  it.each<[string, Record<string, string | string[]>, number | undefined]>([
    ["seconds", { "retry-after": "2" }, 2_000],
    ["zero", { "retry-after": "0" }, 0],
    ["a fraction, as some upstreams send it", { "retry-after": "0.5" }, 500],
    ["more than a minute as a minute", { "retry-after": "86400" }, 60_000],
    [
      "a date against the reply's own date",
      { "retry-after": "Wed, 21 Oct 2026 07:28:07 GMT", date: DATE },
      7_000,
    ],
    [
      "a date in the past as zero",
      { "retry-after": "Wed, 21 Oct 2026 07:00:00 GMT", date: DATE },
      0,
    ],
    [
      "a far date as a minute",
      { "retry-after": "Wed, 21 Oct 2027 07:28:00 GMT", date: DATE },
      60_000,
    ],
    ["a date without a reference as unknown", { "retry-after": DATE }, undefined],
    [
      "a date with a broken reference as unknown",
      { "retry-after": DATE, date: "yesterday" },
      undefined,
    ],
    ["a negative number as unknown", { "retry-after": "-3" }, undefined],
    ["words as unknown", { "retry-after": "soon", date: DATE }, undefined],
    ["an empty value as unknown", { "retry-after": "", date: DATE }, undefined],
    ["two headers as unknown", { "retry-after": ["1", "2"] }, undefined],
    ["nothing as unknown", {}, undefined],
  ])("reads %s", (_what, headers, expected) => {
    expect(readRetryAfterMs(headers)).toBe(expected);
  });
});

it.each([
  [{ "retry-after-ms": "412", "retry-after": "1" }, 412],
  [{ "retry-after-ms": "999999" }, 60_000],
  [{ "retry-after-ms": "soon", "retry-after": "2" }, 2_000],
])("reads milliseconds first: %j", (headers, ms) => {
  expect(readRetryAfterMs(headers)).toBe(ms);
});
