/**
 * A hundred and more bodies that a good client never sends: what they are, and how they must be
 * answered. Data.
 */

/**
 * One body. `status` is the answer's; `param` is `error.param` where the body is refused for a
 * field.
 */
export interface BadBody {
  readonly name: string;
  readonly body: string | Uint8Array;
  readonly status: number;
  readonly param?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const MESSAGES = '"messages":[{"role":"user","content":"hi"}]';
const START = `"model":"gpt-4o-mini",${MESSAGES}`;
const deep = (open: string, close: string, levels: number): string =>
  `${open.repeat(levels)}${close.repeat(levels)}`;

const of = (name: string, body: string | Uint8Array, status: number, param?: string): BadBody => ({
  name,
  body,
  status,
  ...(param === undefined ? {} : { param }),
});
/** A good request and one more member. */
const more = (member: string, status: number, param?: string): BadBody =>
  of(`with ${member.slice(0, 60)}`, `{${START},${member}}`, status, param);
const message = (text: string, status: number, param?: string): BadBody =>
  of(
    `with the message ${text.slice(0, 60)}`,
    `{"model":"gpt-4o-mini","messages":[${text}]}`,
    status,
    param,
  );
const sent = (
  name: string,
  headers: Record<string, string>,
  status: number,
  body: string | Uint8Array = `{${START}}`,
): BadBody => ({
  name,
  body,
  status,
  headers,
});

const ENCODINGS: readonly BadBody[] = [
  of(
    "invalid UTF-8 in a text",
    Buffer.concat([
      Buffer.from(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"`),
      Buffer.of(0xff, 0xfe),
      Buffer.from('"}]}'),
    ]),
    400,
  ),
  of(
    "an overlong encoding",
    Buffer.concat([
      Buffer.from('{"model":"'),
      Buffer.of(0xc0, 0xaf),
      Buffer.from(`",${MESSAGES}}`),
    ]),
    400,
  ),
  of(
    "a surrogate encoded as UTF-8",
    Buffer.concat([
      Buffer.from('{"model":"'),
      Buffer.of(0xed, 0xa0, 0x80),
      Buffer.from(`",${MESSAGES}}`),
    ]),
    400,
  ),
  of(
    "a cut character",
    Buffer.concat([Buffer.from(`{${START},"user":"`), Buffer.of(0xe2, 0x82)]),
    400,
  ),
  of(
    "UTF-16 with its mark",
    Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from(`{${START}}`, "utf16le")]),
    400,
  ),
  of("UTF-16 without its mark", Buffer.from(`{${START}}`, "utf16le"), 400),
  of("UTF-8 with its mark", `\uFEFF{${START}}`, 200),
  of("two marks", `\uFEFF\uFEFF{${START}}`, 400),
  of("NUL bytes before it", `\0\0{${START}}`, 400),
  of(
    "a NUL byte inside a text",
    `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"a\0b"}]}`,
    400,
  ),
  sent(
    "gzip that is cut, said so",
    { "content-encoding": "gzip" },
    400,
    Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3),
  ),
  sent("gzip, not said so", {}, 400, Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)),
  sent("two codings", { "content-encoding": "gzip, gzip" }, 415),
  sent("brotli", { "content-encoding": "br" }, 415),
  sent("no coding, said so", { "content-encoding": "identity" }, 200),
  sent("latin1", { "content-type": "application/json; charset=iso-8859-1" }, 415),
  sent("a form", { "content-type": "application/x-www-form-urlencoded" }, 415, "model=echo"),
  sent("multipart", { "content-type": "multipart/form-data; boundary=x" }, 415, "--x--"),
  sent("plain text", { "content-type": "text/plain" }, 415),
  sent("a JSON dialect", { "content-type": "application/vnd.x+json" }, 200),
  sent("an empty content type", { "content-type": "" }, 415),
];

const SYNTAX: readonly BadBody[] = [
  of("nothing", "", 400),
  of("white space", " \n\t ", 400),
  of("null", "null", 400),
  of("a number", "7", 400),
  of("a text", '"hi"', 400),
  of("true", "true", 400),
  of("an array", "[]", 400),
  of("an array of requests", `[{${START}}]`, 400),
  of("two objects", `{${START}}{${START}}`, 400),
  of("lines of JSON", `{${START}}\n{${START}}\n`, 400),
  of("a cut object", `{${START}`, 400),
  of("a cut text", '{"model":"ec', 400),
  of("a comma too many", `{${START},}`, 400),
  of("no quotes", "{model:echo}", 400),
  of("single quotes", `{'model':'gpt-4o-mini'}`, 400),
  of("a comment", `{${START} /* hi */}`, 400),
  of("NaN", `{${START},"temperature":NaN}`, 400),
  of("Infinity", `{${START},"temperature":Infinity}`, 400),
  of("a number with a zero before it", `{${START},"n":01}`, 400),
  of("a hexadecimal number", `{${START},"n":0x1}`, 400),
  of("a line break in a text", `{"model":"ec\nho",${MESSAGES}}`, 400),
  of("a wrong escape", `{"model":"\\x41",${MESSAGES}}`, 400),
  of("half an escape", `{"model":"\\u00",${MESSAGES}}`, 400),
  of("HTML", "<html></html>", 400),
  of("a million levels of arrays", `{${START},"x":${deep("[", "]", 1_000_000)}}`, 400),
  of(
    "a million levels of objects",
    `{${START},"x":${'{"a":'.repeat(300_000)}1${"}".repeat(300_000)}}`,
    400,
  ),
  of("a million open brackets", "[".repeat(1_000_000), 400),
  of("a million open braces", '{"a":'.repeat(400_000), 400),
  of("65 levels", `{${START},"x":${deep("[", "]", 65)}}`, 400),
  of("62 levels", `{${START},"x":${deep("[", "]", 62)}}`, 200),
  of(
    "300,000 members",
    `{${START},${Array.from({ length: 300_000 }, (_, index) => `"k${index}":1`).join(",")}}`,
    400,
  ),
  of("300,000 values", `{${START},"x":[${"1,".repeat(300_000)}1]}`, 400),
  of("a name of a million characters", `{${START},"${"k".repeat(1_000_000)}":1}`, 200),
  of("a million backslashes", `{${START},"x":"${"\\\\".repeat(1_000_000)}"}`, 200),
  of("a million quotes", `{${START},"x":"${'\\"'.repeat(1_000_000)}"}`, 200),
];

const NAMES: readonly BadBody[] = [
  more('"__proto__":{"stream":true}', 400, "__proto__"),
  more('"constructor":{"prototype":{"x":1}}', 400, "constructor"),
  more('"prototype":1', 400, "prototype"),
  more('"\\u005f_proto__":{}', 400, "__proto__"),
  more('"x":{"__proto__":{"polluted":true}}', 400, "__proto__"),
  of(
    "a message with __proto__",
    '{"model":"gpt-4o-mini","messages":[{"__proto__":{"polluted":"yes"},"role":"user","content":"x"}]}',
    400,
    "__proto__",
  ),
  more('"metadata":{"__proto__":"x"}', 200),
  more(
    '"tools":[{"type":"function","function":{"name":"f","parameters":{"__proto__":{}}}}],"drop_params":true',
    200,
  ),
  more('"toString":1,"hasOwnProperty":2,"valueOf":3', 200),
  more('"model":"other"', 400, "model"),
  more('"\\u006dodel":"other"', 400, "model"),
  more('"messages":[]', 400, "messages"),
  more('"stream":true,"stream":false', 400, "stream"),
  more('"n":1,"n":2', 400, "n"),
  more('"max_tokens":1,"max_tokens":2', 400, "max_tokens"),
  more('"x":1,"x":2', 400, "x"),
  more('"":1', 200),
];

const VALUES: readonly BadBody[] = [
  of("no model", `{${MESSAGES}}`, 400, "model"),
  of("no messages", '{"model":"gpt-4o-mini"}', 400, "messages"),
  of("an empty object", "{}", 400, "model"),
  of("a model that is an object", `{"model":{},${MESSAGES}}`, 400, "model"),
  of("a model with NUL", `{"model":"ec\\u0000ho",${MESSAGES}}`, 400, "model"),
  of("a model with a line break", `{"model":"echo\\r\\nx-evil: 1",${MESSAGES}}`, 400, "model"),
  of("a model that is half a character", `{"model":"\\ud800",${MESSAGES}}`, 404, "model"),
  of(
    "a model of a million characters",
    `{"model":"${"m".repeat(1_000_000)}",${MESSAGES}}`,
    404,
    "model",
  ),
  of("a model that looks like a path", `{"model":"../../etc/passwd",${MESSAGES}}`, 404, "model"),
  message("{}", 400, "messages[0]"),
  message("null", 400, "messages[0]"),
  message('{"role":"robot","content":"x"}', 400, "messages[0]"),
  message('{"role":"user"}', 400, "messages[0].content"),
  message('{"role":"user","content":{}}', 400, "messages[0].content"),
  message('{"role":"user","content":[]}', 200),
  message('{"role":"user","content":[{"type":"hologram"}]}', 400, "messages[0].content[0]"),
  message('{"role":"user","content":[{"type":"__proto__"}]}', 400, "messages[0].content[0]"),
  message('{"role":"constructor","content":"x"}', 400, "messages[0]"),
  message('{"role":"tool","content":"x"}', 400, "messages[0].tool_call_id"),
  message('{"role":"user","content":"\\ud800"}', 200),
  message('{"role":"user","content":"\\u0000\\u0001\\u001f"}', 200),
  message('{"role":"user","content":"\\ufeff\\u202e<|endoftext|>"}', 200),
  message('{"role":"user","content":""}', 200),
  message(`{"role":"user","content":"${"x".repeat(3_000_000)}"}`, 200),
  message(Array.from({ length: 20_000 }, () => '{"role":"user","content":"x"}').join(","), 200),
  more('"temperature":1e400', 400, "temperature"),
  more('"temperature":-1e400', 400, "temperature"),
  more('"temperature":"0.5"', 400, "temperature"),
  more('"temperature":true', 400, "temperature"),
  more('"temperature":1e-400', 200),
  more('"max_tokens":1e400', 400, "max_tokens"),
  more('"max_tokens":-1', 400, "max_tokens"),
  more('"max_tokens":0.5', 400, "max_tokens"),
  more('"max_tokens":0', 200),
  more('"max_tokens":99999999999999999999', 200),
  more('"seed":-9007199254740991', 200),
  more('"seed":9223372036854775807', 200),
  more('"seed":123456789012345678901234567890', 200),
  more('"seed":"1"', 400, "seed"),
  more('"n":0', 400, "n"),
  more('"n":1000000', 400, "n"),
  more('"top_p":2', 400, "top_p"),
  more('"stop":["a","b","c","d","e"]', 400, "stop"),
  more('"stop":[["a"]]', 400, "stop[0]"),
  more('"logit_bias":{"a":"b"}', 400, "logit_bias.a"),
  more('"stream":1', 400, "stream"),
  more('"stream":"true"', 400, "stream"),
  more('"stream_options":{"include_usage":true}', 400, "stream_options"),
  more('"tools":{}', 400, "tools"),
  more('"tools":[1]', 400, "tools[0]"),
  more('"tool_choice":[]', 400, "tool_choice"),
  more('"response_format":"json"', 400, "response_format"),
  more('"user":{}', 400, "user"),
  more('"user":"\\u0000"', 200),
  more(`"user":"${"u".repeat(1_000_000)}"`, 200),
  more('"metadata":[]', 400, "metadata"),
  more(`"metadata":{"a":"${"x".repeat(1_000_000)}"}`, 400, "metadata.a"),
  more(
    `"metadata":{${Array.from({ length: 1_000 }, (_, index) => `"k${index}":"v"`).join(",")}}`,
    400,
    "metadata",
  ),
  more(`"tags":[${Array.from({ length: 10_000 }, () => '"t"').join(",")}]`, 400, "tags"),
  more('"tags":["a\\u0000b"]', 400, "tags[0]"),
  more('"timeout":"600"', 400, "timeout"),
  more('"timeout":0', 400, "timeout"),
  more('"timeout":0.5', 400, "timeout"),
  more('"timeout":1e12', 200),
  more('"timeout":1e400', 400, "timeout"),
  more('"guardrails":["no-such"]', 400, "guardrails[0]"),
  more('"num_retries":-1', 400, "num_retries"),
  more('"fallbacks":{}', 400, "fallbacks"),
  more('"cache":[]', 400, "cache"),
  more('"x":1e400', 200),
  more('"x":"\\udfff\\ud800"', 200),
];

/** All of them. */
export const BAD_BODIES: readonly BadBody[] = [...ENCODINGS, ...SYNTAX, ...NAMES, ...VALUES];
