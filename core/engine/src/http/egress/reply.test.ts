import { describe, expect, it } from "vitest";
import { type BytesReply, GatewayError } from "@sluice/contract";
import { documentOf, jsonReply } from "@sluice/kit";
import { beginAttempt } from "@sluice/runtime";
import { piecesDocument } from "@sluice/kit/internals";
import { fakeClient, fakeClock, fakeTarget } from "@sluice/testing";
import { LiveExchange } from "../../pipeline/exchange.ts";
import { bodyOf, exchange, GET } from "../http.fixture.ts";
import { writeBytes } from "./bytes.ts";
import { writeError } from "./error.ts";
import { referenceForm } from "../form/reference.ts";
import { replyHeaders } from "./headers.ts";
import { writeWhole } from "./whole.ts";

describe("a whole reply in pieces", () => {
  it("goes out as one body, its pieces as they are", async () => {
    const { response, received } = await exchange(GET);
    const pieces = ['{"a":"', "Ü", '"}'].map((text) => Buffer.from(text));
    const reply = { kind: "whole", status: 200, document: piecesDocument(pieces) } as const;
    writeWhole(response, reply, ["x-request-id", "1"], undefined);
    const raw = await received;
    expect(raw).toMatch(/^HTTP\/1\.1 200 [^]*x-request-id: 1\r\n[^]*content-length: 10\r\n/);
    expect(bodyOf(raw)).toBe('{"a":"Ü"}');
  });
});

describe("an error", () => {
  it("has its status, its body and its headers", async () => {
    const { response, received } = await exchange(GET);
    const error = new GatewayError("rate_limited", "Too many.", {
      retryAfterMs: 1_500,
      headers: { allow: "GET" },
      cause: "secret",
    });
    writeError(response, error, ["x-request-id", "1"]);
    const raw = await received;
    expect(raw).toMatch(/^HTTP\/1\.1 429 /);
    expect(raw).toMatch(
      /x-request-id: 1\r\n[^]*content-type: application\/json\r\n[^]*allow: GET\r\nretry-after: 2\r\n/,
    );
    expect(JSON.parse(bodyOf(raw))).toEqual({
      error: { message: "Too many.", type: "rate_limit_error", code: 429, param: null },
    });
  });

  it("asks for a second at least", async () => {
    const { response, received } = await exchange(GET);
    writeError(response, new GatewayError("overloaded", "Full.", { retryAfterMs: 0 }), []);
    expect(await received).toContain("retry-after: 1\r\n");
  });

  it("is not written behind a reply that has begun, nor to a client that is gone", async () => {
    const { response, received } = await exchange(GET);
    response.writeHead(200);
    writeError(response, new GatewayError("internal_error", "no"), []);
    response.end("ok");
    expect(bodyOf(await received)).toContain("ok");
    expect(() => writeError(response, new GatewayError("internal_error", "no"), [])).not.toThrow();
  });
});

describe("a whole reply", () => {
  it.each([
    ["text", documentOf('{"a":"grüße"}')],
    ["bytes", documentOf('{"a":"grüße"}', Buffer.from('{"a":"grüße"}'))],
  ])("of %s is written as it is, with its length", async (_what, document) => {
    const { response, received } = await exchange(GET);
    writeWhole(response, { kind: "whole", status: 200, document }, [], undefined);
    const raw = await received;
    expect(raw).toContain("content-length: 15\r\n");
    expect(bodyOf(raw)).toBe('{"a":"grüße"}');
  });

  it("keeps the status that it was given", async () => {
    const { response, received } = await exchange(GET);
    writeWhole(response, { ...jsonReply({}), status: 202 }, [], undefined);
    expect(await received).toMatch(/^HTTP\/1\.1 202 /);
  });
});

describe("a reply of bytes", () => {
  const OPEN = new AbortController().signal;

  async function* chunks(fails: boolean): AsyncGenerator<Uint8Array, void, undefined> {
    yield Buffer.from("abc");
    if (fails) throw new Error("reset");
    yield Buffer.from("def");
  }
  const bytes = (fails: boolean): BytesReply => ({
    kind: "bytes",
    status: 206,
    headers: { "content-type": "audio/mp3" },
    body: chunks(fails),
  });

  it("is written with its own headers, and settled before its end", async () => {
    const { response, received } = await exchange(GET);
    await writeBytes(
      response,
      bytes(false),
      ["x-a", "b"],
      async () => expect(response.writableEnded).toBe(false),
      OPEN,
    );
    const raw = await received;
    expect(raw).toMatch(/^HTTP\/1\.1 206 [^]*x-a: b\r\ncontent-type: audio\/mp3\r\n/);
    expect(bodyOf(raw)).toBe("abcdef");
  });

  it("that fails looks cut", async () => {
    const { response, received } = await exchange(GET);
    await expect(
      writeBytes(response, bytes(true), [], async () => undefined, OPEN),
    ).rejects.toThrow("reset");
    expect((await received).endsWith("0\r\n\r\n")).toBe(false);
  });

  it("whose exchange was ended rejects with the reason of that", async () => {
    const { response } = await exchange(GET);
    const reason = new GatewayError("client_stalled", "The client took too little.");
    await expect(
      writeBytes(response, bytes(true), [], async () => undefined, AbortSignal.abort(reason)),
    ).rejects.toBe(reason);
  });
});

describe("the headers of an exchange", () => {
  const clock = fakeClock();
  const open = (): LiveExchange => {
    const made = new LiveExchange({
      id: "id-1",
      operation: "chat",
      client: fakeClient(),
      generation: 3,
      deadlineMs: 1_000,
      clock,
      read: async () => undefined,
    });
    made.end();
    return made;
  };

  it("name the request and the generation, also before any attempt", () => {
    expect(replyHeaders(open(), referenceForm(), clock)).toEqual([
      "x-request-id",
      "id-1",
      "x-sluice-generation",
      "3",
    ]);
  });

  it("tell the overhead without the upstream's time, and are safe whatever a model is called", () => {
    const made = open();
    made.model = {
      id: "grün\r\nx: y",
      entry: "*",
      mode: "chat",
      targets: [],
      accessGroups: [],
      ownedBy: "",
    };
    made.headers.set("x-b", "ü");
    beginAttempt(made, fakeTarget("one"), "openai").waited(5);
    beginAttempt(made, fakeTarget("one"), "openai");
    clock.advance(7.5);
    const headers = replyHeaders(made, referenceForm(), clock);
    const pairs = Object.fromEntries(
      Array.from({ length: headers.length / 2 }, (_, index) =>
        headers.slice(index * 2, index * 2 + 2),
      ),
    );
    expect(pairs).toEqual({
      "x-request-id": "id-1",
      "x-sluice-generation": "3",
      "x-sluice-model": "gr%C3%BCn%0D%0Ax%3A%20y",
      "x-sluice-provider": "one",
      "x-sluice-attempts": "2",
      "x-sluice-overhead-ms": "2.50",
      "x-b": "%C3%BC",
    });
  });

  it("can be written whatever a model is called: half of a character, and more than headers hold", () => {
    const made = open();
    made.headers.set("x-half", "openai/\ud83d");
    made.headers.set("x-long", "m".repeat(20_000));
    const headers = replyHeaders(made, referenceForm(), clock);
    expect(headers.slice(4)).toEqual(["x-half", "openai%2F%EF%BF%BD", "x-long", "m".repeat(1_000)]);
  });
});
