/** The attacks of `proof:bodies`. */

const MB = 1024 * 1024;

/** The path, the length that the head declares, and the body in pieces. */
export interface Upload {
  readonly path: string;
  readonly bytes: number | undefined;
  readonly pieces: () => Iterable<string | Buffer>;
}

const sized = (path: string, text: () => string, sent?: number): Upload => {
  const bytes = Buffer.byteLength(text());
  return {
    path,
    bytes,
    *pieces() {
      const whole = Buffer.from(text());
      for (let from = 0; from < (sent ?? whole.length); from += 262_144)
        yield whole.subarray(from, Math.min(sent ?? whole.length, from + 262_144));
    },
  };
};

const deep = `{"a":${"[".repeat(4 * MB)}${"]".repeat(4 * MB - 8)}}`;
const wide = `{"a":[${"[],".repeat((8 * MB) / 3 - 10)}[]]}`;
const large = JSON.stringify({
  model: "gpt-4o",
  messages: [{ role: "user", content: "x".repeat(10_000_000) }],
});
const stalled = JSON.stringify({
  model: "gpt-4o",
  messages: [{ role: "user", content: "x".repeat(19 * MB) }],
});

/** Requests of faces with nearly as many objects as the gateway takes. */
const COUNT = 24_000;
const many = <T>(make: (index: number) => T): T[] =>
  Array.from({ length: COUNT }, (_, at) => make(at));
const text = "x".repeat(500);
const messages = (model: string, list: readonly object[]): string =>
  JSON.stringify({ model, max_tokens: 9, messages: list });
const blocks = messages("claude", [
  { role: "user", content: many(() => ({ type: "text", text })) },
]);
const turns = many((at) => ({ role: at % 2 === 0 ? "user" : "assistant", content: text }));
const contents = JSON.stringify({
  contents: [{ role: "user", parts: many(() => ({ text })) }],
});
const items = JSON.stringify({ model: "gpt-4o", store: false, input: turns });

const crumbs: Upload = {
  path: "/v1/chat/completions",
  bytes: undefined,
  *pieces() {
    const start = `{"model":"gpt-4o","messages":[{"role":"user","content":"`;
    yield `${start.length.toString(16)}\r\n${start}\r\n`;
    const many = "1\r\nx\r\n".repeat(20_000);
    for (let count = 0; count < 150; count += 1) yield many;
    yield `4\r\n"}]}\r\n0\r\n\r\n`;
  },
};

/** Each attack: its name, the clients at once, and what each sends. */
export const ATTACKS: readonly (readonly [string, number, Upload])[] = [
  ["12 x 8 MiB, deep", 12, sized("/openai/v1/chat/completions", () => deep)],
  ["12 x 8 MiB, wide", 12, sized("/openai/v1/chat/completions", () => wide)],
  ["100 x 10 MB", 100, sized("/v1/chat/completions", () => large)],
  ["6 x 3 MB in 1-byte chunks", 6, crumbs],
  ["20 x Messages of 24,000 blocks", 20, sized("/v1/messages", () => blocks)],
  [
    "20 x Messages of 24,000 turns, to another API",
    20,
    sized("/v1/messages", () => messages("gpt-4o", turns)),
  ],
  [
    "20 x Gemini of 24,000 parts",
    20,
    sized("/v1beta/models/gemini:generateContent", () => contents),
  ],
  ["20 x Responses of 24,000 items", 20, sized("/v1/responses", () => items)],
  ["80 stalled uploads of 19 MB", 80, sized("/v1/chat/completions", () => stalled, 18 * MB)],
];
