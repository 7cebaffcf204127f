import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { checkMediaType, jsonStages, readJson } from "./json.ts";
import { Stages } from "@sluice/kit";

const refused = (code: string, message?: string): unknown =>
  expect.objectContaining({
    code,
    ...(message === undefined ? {} : { message: expect.stringContaining(message) as string }),
  });

describe("the media type", () => {
  const check = (headers: IncomingMessage["headers"]) => () =>
    checkMediaType({ headers } as IncomingMessage);

  it.each([
    "application/json",
    "application/json; charset=utf-8",
    'Application/JSON;charset="UTF-8"',
    "application/json;charset=utf8; x=y",
    "application/vnd.api+json",
  ])("%s is accepted", (type) => {
    expect(check({ "content-type": type })).not.toThrow();
    expect(check({ "content-type": type, "content-encoding": "identity" })).not.toThrow();
  });

  it.each([
    undefined,
    "",
    "text/plain",
    "application/jsonp",
    "multipart/form-data; x=application/json",
    "application/json; charset=latin1",
  ])("%s is refused", (type) => {
    expect(check(type === undefined ? {} : { "content-type": type })).toThrow(
      refused("unsupported_media_type"),
    );
  });

  it.each(["br", "br", "gzip, identity"])("the encoding %s is refused", (encoding) => {
    expect(check({ "content-type": "application/json", "content-encoding": encoding })).toThrow(
      refused("unsupported_media_type"),
    );
  });
});

describe("a body", () => {
  it("keeps its bytes", () => {
    const bytes = Buffer.from(' {"model" : "m", "seed": 12345678901234567890} ');
    const document = readJson(bytes);
    expect(document.bytes).toBe(bytes);
    expect(document.value.model).toBe("m");
  });

  it("loses a byte order mark", () => {
    expect(readJson(Buffer.from('\uFEFF{"a":1}')).bytes).toBe('{"a":1}');
  });

  it.each([
    ["", "empty"],
    ["  \n", "empty"],
    ['{"a":', "not valid JSON"],
    ['{"a":1,}', "not valid JSON"],
    ["{'a':1}", "not valid JSON"],
    ['{"a":NaN}', "not valid JSON"],
    ['{"a":1} {"b":2}', "not valid JSON"],
    ['{"a":01}', "not valid JSON"],
    ["[]", "must be a JSON object"],
    ["null", "must be a JSON object"],
    ['"text"', "must be a JSON object"],
    ["7", "must be a JSON object"],
  ])("that is %j is refused: %s", (text, message) => {
    expect(() => readJson(Buffer.from(text))).toThrow(refused("invalid_json", message));
  });

  it("that is not UTF-8 is refused", () => {
    expect(() => readJson(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toThrow(
      refused("invalid_json", "UTF-8"),
    );
  });

  it("may be nested 64 levels deep, and no deeper", () => {
    const nested = (levels: number): Buffer =>
      Buffer.from(`{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`);
    expect(() => readJson(nested(63))).not.toThrow();
    expect(() => readJson(nested(66))).toThrow(refused("invalid_json", "64 levels"));
    expect(() => readJson(nested(1_000_000))).toThrow(refused("invalid_json", "64 levels"));
  });

  it("may have 1,000 members, and no more", () => {
    const wide = (count: number) =>
      Buffer.from(`{${Array.from({ length: count }, (_, index) => `"m${index}":1`).join(",")}}`);
    expect(readJson(wide(1_000)).value).toHaveProperty("m999");
    expect(() => readJson(wide(1_001))).toThrow(refused("invalid_json", "1000 members"));
    expect(() => readJson(wide(100_000))).toThrow(refused("invalid_json", "1000 members"));
  });

  it("that is large is read as a small one is", () => {
    const readLarge = (bytes: Buffer) => Stages.atOnce(jsonStages(bytes));
    const large = `"${"x".repeat(200_000)}"`;
    const text = `{"a": ${large}, "model":"m", "b":[1.0,${large}]}`;
    expect(readLarge(Buffer.from(text)).value).toEqual(JSON.parse(text));
    expect(readLarge(Buffer.from(text)).with({ model: "n" }).bytes).toBe(
      `{"a": ${large},"model":"n","b":[1.0,${large}]}`,
    );
    for (const [bad, message] of [
      [`{"model":"m","a":${large},"model":"n"}`, undefined],
      [`{"a":${large},}`, "not valid JSON"],
      [`[${large}]`, "JSON object"],
      [large, "JSON object"],
      [" ".repeat(200_000), "empty"],
      [`{"a":${large},"b":${"[".repeat(64)}`, "deeper than 64"],
      [`{"a":${large},"b":{"__proto__":1}}`, undefined],
    ] as const) {
      expect(() => readLarge(Buffer.from(bad))).toThrow(
        refused(message === undefined ? "invalid_field" : "invalid_json", message),
      );
    }
  });

  it("that is large may hold as many lists and objects as it is allowed, and no more", () => {
    const read = (count: number, most?: number) => () =>
      Stages.atOnce(
        jsonStages(
          Buffer.from(`{"messages":[${"{},".repeat(count - 3)}{}]${" ".repeat(70_000)}}`),
          undefined,
          most,
        ),
      );
    expect(read(25_000, 25_000)).not.toThrow();
    expect(read(25_001, 25_000)).toThrow(
      refused("invalid_json", "more than 25000 lists and objects"),
    );
    expect(read(60_000)).not.toThrow();
  });

  it("may hold 200,000 values, and no more", () => {
    expect(() => readJson(Buffer.from(`{"a":[${"1,".repeat(199_000)}1]}`))).not.toThrow();
    expect(() => readJson(Buffer.from(`{"a":[${"1,".repeat(200_001)}1]}`))).toThrow(
      refused("invalid_json", "200000 values"),
    );
    expect(() => readJson(Buffer.from(`{${'"a":1,'.repeat(200_001)}"b":1}`))).toThrow(
      refused("invalid_json", "200000 values"),
    );
  });

  it.each(["model", "messages", "stream", "max_tokens", "metadata", "user", "anything", "0"])(
    "with two members %s is refused, by its name",
    (name) => {
      const escaped = `\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}${name.slice(1)}`;
      expect(() => readJson(Buffer.from(`{"${name}":1,"x":2,"${escaped}":3}`))).toThrow(
        expect.objectContaining({ code: "invalid_field", param: name }),
      );
    },
  );

  it.each([
    ["generationConfig", '{"a":1,"b":2,"a":3}'],
    ["messages", '[{"role":"user","content":"a","content":"b"}]'],
    ["tools", '[{"function":{"parameters":{"properties":{"x":{"type":"a","t\\u0079pe":"b"}}}}}]'],
    ["other", '{"list":[[],[1,{"a":{},"a":[]}]]}'],
    ["last", '[1,2,{"":1,"":1}]'],
  ])("with a member within %s that stands twice is refused, by its place", (name, value) => {
    const body = `{"first":[1,{"a":"\\"a\\":1"}],"${name}":${value},"end":{}}`;
    const refusal: unknown = expect.objectContaining({
      code: "invalid_field",
      param: name,
      message: `A member within ${name} is repeated in the body. Send it once.`,
    });
    expect(() => readJson(Buffer.from(body))).toThrow(refusal as Error);
    const stages = jsonStages(Buffer.from(body));
    expect(() => Array.from(stages)).toThrow(refusal as Error);
  });
});
