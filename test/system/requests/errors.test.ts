/**
 * Requests that the gateway refuses by itself: status, body, headers, the SDK's class and the row.
 */

import { APIError, AuthenticationError, BadRequestError, NotFoundError } from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { createKey, MESSAGES, openaiClient, rowsOf, spendRows } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

const PATH = "/v1/chat/completions";
const GOOD = JSON.stringify({ model: "gpt-4o-mini", messages: MESSAGES });
const JSON_TYPE = { "content-type": "application/json" };
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A request as it goes out, and what comes back. */
interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | ReadableStream;
}

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({
    baseUrl: upstream.baseUrl,
    server: "max_body: 2kb, auth_headers: [x-service-api-key]",
  });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/**
 * Sends a request through the SDK, whose own fetch is replaced: the answer's bytes, and what the
 * SDK makes of them.
 */
async function refusal({ method = "POST", path = PATH, headers = {}, body = GOOD }: Sent) {
  let answer: Response | undefined;
  const client = openaiClient(gateway, {
    async fetch() {
      const init = {
        method,
        headers: { authorization: `Bearer ${gateway.masterKey}`, ...JSON_TYPE, ...headers },
      };
      const hasBody = method !== "GET" && method !== "DELETE";
      answer = await fetch(`${gateway.publicUrl}${path}`, {
        ...init,
        ...(hasBody && { body, duplex: "half" }),
      });
      return answer.clone();
    },
  });
  const thrown: unknown = await client.chat.completions
    .create({ model: "any", messages: MESSAGES })
    .catch((error: unknown) => error);
  const text = (await answer?.text()) ?? "";
  return {
    thrown: thrown as APIError,
    status: answer?.status,
    headers: answer?.headers ?? new Headers(),
    text,
  };
}

const withBody = (body: unknown): Sent => ({
  body: typeof body === "string" ? body : JSON.stringify(body),
});
const large = JSON.stringify({
  model: "gpt-4o-mini",
  messages: [{ role: "user", content: "x".repeat(3_000) }],
});

describe("a request that is refused after its key was accepted", () => {
  it.each<
    [
      string,
      Sent,
      {
        status: number;
        type: string;
        param: string | null;
        sdk: new (...args: never[]) => APIError;
      },
    ]
  >([
    ["JSON that is cut", withBody('{"model":"gpt-4o-mini","mess'), refused(400, null)],
    ["an empty body", withBody(""), refused(400, null)],
    ["a JSON array", withBody("[]"), refused(400, null)],
    ["no model", withBody({ messages: MESSAGES }), refused(400, "model")],
    ["a model that is a number", withBody({ model: 4, messages: MESSAGES }), refused(400, "model")],
    ["no messages", withBody({ model: "gpt-4o-mini" }), refused(400, "messages")],
    ["empty messages", withBody({ model: "gpt-4o-mini", messages: [] }), refused(400, "messages")],
    [
      "a message that is a text",
      withBody({ model: "gpt-4o-mini", messages: ["hi"] }),
      refused(400, "messages[0]"),
    ],
    [
      "two models",
      withBody('{"model":"echo","model":"gpt-4o","messages":[{"role":"user"}]}'),
      refused(400, "model"),
    ],
    ["an unknown model", withBody({ model: "gpt-5", messages: MESSAGES }), refused(404, "model")],
    ["a body over the limit", withBody(large), refused(413, null)],
    ["a body over the limit, in chunks", { body: new Blob([large]).stream() }, refused(413, null)],
    ["another content type", { headers: { "content-type": "text/plain" } }, refused(415, null)],
    ["a compressed body", { headers: { "content-encoding": "br" } }, refused(415, null)],
  ])("%s", async (_name, sent, { status, type, param, sdk }) => {
    const seen = upstream.requests.length;
    const answer = await refusal(sent);
    const { error } = JSON.parse(answer.text) as { error: { message: string } };
    expect(answer.status).toBe(status);
    expect(error).toEqual({ message: expect.stringMatching(/\S/), type, code: status, param });
    expect(answer.thrown).toBeInstanceOf(sdk);
    expect(answer.thrown).toMatchObject({
      status,
      type,
      code: status,
      param,
      requestID: answer.headers.get("x-request-id"),
    });
    expect(answer.headers.get("x-request-id")).toMatch(UUID_V7);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(await rowsOf(gateway, answer.headers.get("x-request-id"))).toMatchObject([
      { attempt: 0, status: "failure", spend: 0, model_id: null },
    ]);
    expect(upstream.requests).toHaveLength(seen);
  });
});

describe("a request that has no route", () => {
  it("names the methods of a path that takes others", async () => {
    const answer = await refusal({ method: "GET" });
    expect(answer).toMatchObject({
      status: 405,
      thrown: { type: "invalid_request_error", code: 405 },
    });
    expect(answer.headers.get("allow")).toBe("POST");
    expect(answer.headers.get("x-request-id")).toMatch(UUID_V7);
  });

  it.each<[string, Sent]>([
    ["with a key", { path: "/nothing" }],
    ["without one", { path: "/nothing", headers: { authorization: "" } }],
    ["also below a path that exists", { path: "/v1/chat/nothing" }],
  ])("gets 404 for an unknown path, %s", async (_name, sent) => {
    const answer = await refusal(sent);
    expect(answer).toMatchObject({ status: 404, thrown: { type: "not_found_error", code: 404 } });
    expect(answer.thrown).toBeInstanceOf(NotFoundError);
  });
});

describe("a key that is not accepted", () => {
  it("gets one and the same answer for every way of being wrong, and leaves no row", async () => {
    const { key: blocked } = await createKey(gateway, { blocked: true });
    const { key: expired } = await createKey(gateway, { duration: "1ms" });
    const ways: Record<string, string>[] = [
      { authorization: "" },
      { authorization: "Bearer sk-unknown-key" },
      { authorization: "Bearer" },
      { authorization: `Basic ${gateway.masterKey}` },
      { authorization: `Bearer ${gateway.masterKey} and more` },
      { authorization: `Bearer ${gateway.masterKey}`, "x-service-api-key": "sk-another-key" },
      { authorization: `Bearer ${blocked}` },
      { authorization: `Bearer ${expired}` },
      { authorization: "", "x-service-api-key": "sk-unknown-key" },
    ];
    const before = (await spendRows(gateway, {})).length;
    const answers = await Promise.all(ways.map((headers) => refusal({ headers })));
    // Without a key a client cannot learn whether a model exists or a body is valid.
    answers.push(
      await refusal({ headers: { authorization: "" }, body: "{" }),
      await refusal({ headers: { authorization: "" }, body: large }),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    for (const { status, thrown, headers } of answers) {
      expect(status).toBe(401);
      expect(thrown).toBeInstanceOf(AuthenticationError);
      expect(thrown).toMatchObject({ type: "authentication_error", code: 401, param: null });
      expect(headers.get("x-request-id")).toMatch(UUID_V7);
    }
    expect(await spendRows(gateway, {})).toHaveLength(before);
  });

  it("may come in a header of the operator's choice, and twice when both say the same", async () => {
    const same = {
      authorization: `Bearer ${gateway.masterKey}`,
      "x-service-api-key": gateway.masterKey,
    };
    for (const headers of [same, { "x-service-api-key": gateway.masterKey }]) {
      const answer = await fetch(`${gateway.publicUrl}${PATH}`, {
        method: "POST",
        body: GOOD,
        headers: { ...JSON_TYPE, ...headers },
      });
      expect(answer.status).toBe(200);
    }
  });
});

describe("a model that the key may not use", () => {
  it("is answered like one that does not exist", async () => {
    const { key } = await createKey(gateway, { models: ["echo"] });
    const ask = (model: string) =>
      refusal({
        headers: { authorization: `Bearer ${key}` },
        ...withBody({ model, messages: MESSAGES }),
      });
    const [hidden, unknown] = await Promise.all([ask("gpt-4o-mini"), ask("gpt-4o-none")]);
    expect([hidden.status, unknown.status]).toEqual([404, 404]);
    expect(hidden.text.replace("gpt-4o-mini", "?")).toBe(unknown.text.replace("gpt-4o-none", "?"));
    const names = ({ headers }: { headers: Headers }) =>
      [...headers.keys()].filter((name) => name !== "x-request-id");
    expect(names(hidden)).toEqual(names(unknown));
  });
});

function refused(status: number, param: string | null) {
  const sdk = status === 400 ? BadRequestError : status === 404 ? NotFoundError : APIError;
  return { status, type: status === 404 ? "not_found_error" : "invalid_request_error", param, sdk };
}
