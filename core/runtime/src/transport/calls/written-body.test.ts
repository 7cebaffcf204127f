import { describe, expect, it } from "vitest";
import type { EncodedCall } from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { bytesDocument, LateSignal, writtenDocument } from "@sluice/kit/internals";
import { withWrittenBody } from "./written-body.ts";

const call = (body: EncodedCall["body"]): EncodedCall => ({
  kind: "http",
  method: "POST",
  url: "https://acme.test/v1",
  headers: {},
  body,
});
const VALUE = {
  model: "m",
  messages: Array.from({ length: 3_000 }, (_, at) => ({ role: "user", content: `\u00e9${at}` })),
  long: "\u{1f600}".repeat(600_000),
};

const ending = new LateSignal();

describe("the body of a call", () => {
  it("of a large request is written in turns, as the same bytes", async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const written = await withWrittenBody(call(writtenDocument(VALUE)), true, ending);
    clearImmediate(timer);
    expect(turns).toBeGreaterThan(1);
    expect(Buffer.compare(written.body as Uint8Array, Buffer.from(JSON.stringify(VALUE)))).toBe(0);
  });

  it("of a small one is a text, at once", () => {
    expect(withWrittenBody(call(writtenDocument({ model: "m" })), false, ending)).toEqual(
      call('{"model":"m"}'),
    );
  });

  it.each([
    ["a document", call(writtenDocument(VALUE))],
    ["a text", call(VALUE.long)],
  ])("is not written on behind the ending of its request: %s", async (_what, large) => {
    const early = new LateSignal();
    const written = withWrittenBody(large, true, early);
    early.abort(new Error("the client has gone"));
    await expect(written).rejects.toThrow("the client has gone");
  });

  it("stays what it is where it is written already", () => {
    const bytes = Buffer.from('{"a" : 1.0}');
    for (const body of [undefined, "", '{"a":1}', bytes])
      expect(withWrittenBody(call(body), true, ending)).toEqual(call(body));
    expect(withWrittenBody(call(bytesDocument(bytes)), true, ending)).toEqual(call(bytes));
    expect(withWrittenBody(call(documentOf('{"a" : 1.0}')), true, ending)).toEqual(
      call('{"a" : 1.0}'),
    );
  });
});
