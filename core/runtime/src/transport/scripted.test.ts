import { describe, expect, it } from "vitest";
import type { HttpCall } from "@sluice/contract";
import { createScriptedUpstream, type ScriptedAnswer, type ScriptedCall } from "./scripted.ts";

const TIMEOUTS = { connectMs: 50, firstByteMs: 50, idleMs: 50 };
const CALL: HttpCall = {
  kind: "http",
  method: "POST",
  url: "https://upstream.invalid/v1/chat?key=secret",
  headers: { "X-Mark": "1" },
  body: "hello",
};
const OK: ScriptedAnswer = {
  kind: "response",
  status: 200,
  headers: { a: "b" },
  chunks: ["one", "two"],
  end: "whole",
};

async function send(answer: ScriptedAnswer, signal = new AbortController().signal) {
  const seen: ScriptedCall[] = [];
  const upstream = createScriptedUpstream({ connections: 1, connectMs: 50 }, (call) => {
    seen.push(call);
    return answer;
  });
  const response = await upstream.send(CALL, { signal, timeouts: TIMEOUTS });
  return {
    seen,
    response,
    body: async () => Buffer.from(await response.body.collect(1_000)).toString(),
  };
}

describe("scripted connections", () => {
  it("show the call without its query, and give the scripted response", async () => {
    const { seen, response, body } = await send(OK);
    expect(seen).toMatchObject([
      { method: "POST", url: "https://upstream.invalid/v1/chat", body: "hello" },
    ]);
    expect(seen[0]?.headers.get("x-mark")).toBe("1");
    expect(response).toMatchObject({ status: 200, headers: { a: "b" } });
    expect(await body()).toBe("onetwo");
  });

  it.each([
    [{ kind: "refused" } as const, "upstream_unreachable"],
    [{ kind: "silent" } as const, "upstream_timeout"],
  ])("%j fails the call as %s", async (answer, code) => {
    await expect(send(answer)).rejects.toMatchObject({ code });
  });

  it.each([
    ["cut", "upstream_unreachable"],
    ["silent", "upstream_timeout"],
  ] as const)("a response that ends with %s fails its body as %s", async (end, code) => {
    const { response, body } = await send({ ...OK, end });
    expect(response.status).toBe(200);
    await expect(body()).rejects.toMatchObject({ code });
  });

  it("end with the reason of the abort, before and during a response", async () => {
    await expect(send(OK, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
    const controller = new AbortController();
    const waiting = send({ kind: "silent" }, controller.signal);
    controller.abort(new Error("left"));
    await expect(waiting).rejects.toThrow("left");
  });

  it("wait for a reader that is slow, and lose nothing", async () => {
    const chunks = Array.from({ length: 64 }, (_, index) => String(index % 10).repeat(16_384));
    const { response } = await send({ ...OK, chunks });
    await new Promise((resolve) => setImmediate(resolve));
    expect((await response.body.collect(2_000_000)).length).toBe(64 * 16_384);
  });
});
