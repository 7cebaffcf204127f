import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Provider } from "@sluice/contract";
import { afterAll, describe, expect, it } from "vitest";
import { defineProvider } from "@sluice/kit";
import { createChatTranslator, decodeChat, readErrorReply } from "@sluice/kit/openai";
import { encodeChat } from "@sluice/kit/internals";
import { providerContract } from "./contract.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-contract-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SSE = `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Grüße"},"finish_reason":null}]}

data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

`;

const CASES = [
  {
    name: "request",
    given: { model: "contract/model", messages: [{ role: "user", content: "Hi" }] },
  },
  { name: "stream", file: "chat/stream.sse" },
  {
    name: "error-429",
    given: { status: 429, headers: {}, body: { error: { message: "Slow down." } } },
  },
];
mkdirSync(join(folder, "chat"));
writeFileSync(join(folder, "chat/stream.sse"), SSE);

/** Writes the cases without what is expected. */
function writeCases(): void {
  writeFileSync(
    join(folder, "chat.cases.json"),
    JSON.stringify({ source: "https://example.com", cases: CASES }),
  );
}

/**
 * A provider of the reference dialect, with some of its functions replaced. Runs the suite and
 * gives what failed.
 */
function failures(replaced: Partial<Provider> = {}): Map<string, string> {
  const definition = defineProvider<never>({
    name: "acme",
    stability: "beta",
    summary: "A test.",
    config: { type: "object", properties: {} },
    create: () => ({
      capabilities: { operations: ["chat"], streaming: true, tools: true },
      encode: (request) => ({
        kind: "http",
        method: "POST",
        url: "https://example.com",
        headers: {},
        body: encodeChat(request).bytes,
      }),
      decode: (body, request) => decodeChat(body, request.replyModel, request),
      stream: (request) => createChatTranslator(request.replyModel, request),
      error: readErrorReply,
      ...replaced,
    }),
  });
  const failed = new Map<string, string>();
  const runner = {
    describe: (_: string, define: () => void) => define(),
    it: (title: string, run: () => void) => {
      try {
        run();
      } catch (error) {
        failed.set(title, String(error));
      }
    },
  };
  providerContract(runner, definition, {
    fixtures: pathToFileURL(`${folder}/`),
    model: "m",
    readme: null,
  });
  return failed;
}

describe("the contract suite", () => {
  it("writes what a case lacks, says so, and passes with it", () => {
    writeCases();
    const first = [...failures().values()];
    expect(first).toHaveLength(3);
    expect(first.every((text) => text.includes('had no "expected", and has it now'))).toBe(true);
    expect([...failures()]).toEqual([]);
    const { source, cases } = JSON.parse(readFileSync(join(folder, "chat.cases.json"), "utf8")) as {
      source: string;
      cases: object[];
    };
    expect(source).toBe("https://example.com");
    expect(cases).toEqual(CASES.map((row) => ({ ...row, expected: expect.anything() as unknown })));
  });

  it("finds a provider that drops a parameter, a block and a tool choice", () => {
    const failed = failures({
      encode: ({ document }) => {
        const { messages, model } = document.value;
        return {
          kind: "http",
          method: "POST",
          url: "https://example.com",
          headers: {},
          body: JSON.stringify({ model, messages: String(messages).slice(0, 1) }),
        };
      },
    });
    expect(failed.get("drops no parameter in silence")).toContain(
      "The parameter temperature is dropped.",
    );
    expect(failed.get("drops no block in silence")).toContain("is dropped");
    expect(failed.get("keeps or refuses fields that it does not know")).toContain(
      "An unknown field is dropped",
    );
    expect(failed.get("says what a request says of the use of its tools")).toContain("is lost");
    expect(failed.get("encodes chat/request")).toContain("was expected and");
  });

  it("finds stages that make another call", () => {
    const failed = failures({
      *encodeInStages() {
        yield;
        return { kind: "http", method: "POST", url: "https://example.com", headers: {}, body: "" };
      },
    });
    expect(failed.get("encodes chat/request")).toContain("`encodeInStages` makes another call");
  });

  it("finds a stream that ends twice, or goes on after its end", () => {
    const failed = failures({
      stream: (request) => {
        const inner = createChatTranslator(request.replyModel, request);
        return {
          event(event, sink) {
            inner.event(event, sink);
            if (event.data === "[DONE]") sink.done();
          },
        };
      },
    });
    expect(failed.get("translates chat/stream")).toContain("done 2 times");
  });

  it("finds an error that repeats the key, and a crash on a body that is no reply", () => {
    const failed = failures({
      error: (reply) => Object.assign(readErrorReply(reply), { message: reply.body || "none" }),
      decode: (body) => JSON.parse(Buffer.from(body).toString()) as never,
    });
    expect(failed.get("reads chat/error-429")).toContain("was expected");
    expect(failed.get("reads nothing out of a body that is no reply")).toContain("SyntaxError");
  });
});
