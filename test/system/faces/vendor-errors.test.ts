/**
 * Failures through the vendors' own SDKs: each becomes the SDK's own class, with the status, the
 * type and the waiting time that the SDK and its users act on.
 */

import Anthropic from "@anthropic-ai/sdk";
import { ApiError } from "@google/genai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardedWorkspace } from "../guardrails/guardrails.fixture.ts";
import { createKey } from "../support/client.ts";
import { type Answered, ask, FACES, type FaceName } from "../support/faces/face-clients.ts";
import { fourProviders, PROVIDER_ENVIRONMENT, PROVIDERS } from "../support/faces/four-providers.ts";
import {
  createScriptedModel,
  type Said,
  type ScriptedModel,
} from "../support/faces/scripted-model.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

const WORD = "zqforbiddenzq";

let model: ScriptedModel;
let gateway: GatewayProcess;

beforeAll(async () => {
  model = await createScriptedModel();
  const workspace = guardedWorkspace({
    ...fourProviders(model.url, "price: { input: 0, output: 0, request: 0.01 }"),
    guardrails: [`blocking: { use: forbid, word: ${WORD} }`],
    step: "{}",
  });
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await model?.close();
});

interface Failure {
  readonly status: number | undefined;
  /** The name of the SDK's class. */
  readonly name: string;
  /** The type or code by which clients decide. */
  readonly kind: unknown;
  /** Seconds to wait. */
  readonly wait: string | null | undefined;
  readonly message: string;
  /** The header by which Anthropic's SDK decides about another try. */
  readonly retries?: string | null | undefined;
}

/** What the SDK of a face makes of a failure. */
function failureOf(error: unknown): Failure {
  if (error instanceof Anthropic.APIError) {
    const { type } = (error.error as { error?: { type?: string } } | undefined)?.error ?? {};
    const wait = error.headers?.get("retry-after");
    return {
      status: error.status,
      name: error.constructor.name,
      kind: type,
      wait,
      retries: error.headers?.get("x-should-retry"),
      message: error.message,
    };
  }
  if (error instanceof OpenAI.APIError) {
    const wait = error.headers?.get("retry-after");
    const { status, code: kind, message } = error;
    return { status, name: error.constructor.name, kind, wait, message };
  }
  if (error instanceof ApiError) {
    const { error: said } = JSON.parse(error.message.slice(error.message.indexOf("{"))) as {
      error: {
        status: string;
        message: string;
        details: { "@type": string; retryDelay?: string }[];
      };
    };
    const wait = said.details?.find((each) => each.retryDelay !== undefined)?.retryDelay ?? null;
    return {
      status: error.status,
      name: "ApiError",
      kind: said.status,
      wait,
      message: said.message,
    };
  }
  throw error;
}

interface Asked {
  readonly key?: string;
  readonly provider?: string;
  readonly stream?: boolean;
  readonly prompt?: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

async function failing(face: FaceName, asked: Asked = {}): Promise<Failure> {
  let answered: Answered;
  try {
    answered = await answering(face, asked);
  } catch (error) {
    return failureOf(error);
  }
  // OpenAI's SDK resolves with a failed response.
  const { status, error } = JSON.parse(answered.raw) as {
    status?: string;
    error?: { code: string; message: string };
  };
  if (status !== "failed" || error === undefined)
    throw new Error(`It did not fail: ${answered.raw}`);
  return {
    status: undefined,
    name: "failed",
    kind: error.code,
    wait: undefined,
    message: error.message,
  };
}

function answering(
  face: FaceName,
  { key = gateway.masterKey, provider = "openai", prompt = "Hi", ...rest }: Asked,
) {
  return ask(face, { publicUrl: gateway.publicUrl, key }, { model: provider, prompt, ...rest });
}

const says = (said: Said): void => model.says(said);

/** Status, class and kind on each face. */
type Expected = Readonly<Record<FaceName, readonly [number | undefined, string, string]>>;

const EXPECTED = {
  badKey: {
    messages: [401, "AuthenticationError", "authentication_error"],
    responses: [401, "AuthenticationError", "invalid_api_key"],
    gemini: [401, "ApiError", "UNAUTHENTICATED"],
  },
  noModel: {
    messages: [404, "NotFoundError", "not_found_error"],
    responses: [404, "NotFoundError", "model_not_found"],
    gemini: [404, "ApiError", "NOT_FOUND"],
  },
  rate: {
    messages: [429, "RateLimitError", "rate_limit_error"],
    responses: [429, "RateLimitError", "rate_limit_exceeded"],
    gemini: [429, "ApiError", "RESOURCE_EXHAUSTED"],
  },
  budget: {
    messages: [429, "RateLimitError", "rate_limit_error"],
    responses: [429, "RateLimitError", "insufficient_quota"],
    gemini: [429, "ApiError", "RESOURCE_EXHAUSTED"],
  },
  guardrail: {
    messages: [400, "BadRequestError", "invalid_request_error"],
    responses: [400, "BadRequestError", "guardrail_violation"],
    gemini: [400, "ApiError", "INVALID_ARGUMENT"],
  },
  credential: {
    messages: [502, "InternalServerError", "api_error"],
    responses: [502, "InternalServerError", "upstream_auth_failed"],
    gemini: [502, "ApiError", "INTERNAL"],
  },
  failed: {
    messages: [502, "InternalServerError", "api_error"],
    responses: [502, "InternalServerError", "upstream_failed"],
    gemini: [502, "ApiError", "UNAVAILABLE"],
  },
  overloaded: {
    messages: [529, "OverloadedError", "overloaded_error"],
    responses: [503, "InternalServerError", "server_is_overloaded"],
    gemini: [503, "ApiError", "UNAVAILABLE"],
  },
  tooLong: {
    messages: [400, "BadRequestError", "invalid_request_error"],
    responses: [400, "BadRequestError", "context_length_exceeded"],
    gemini: [400, "ApiError", "INVALID_ARGUMENT"],
  },
  cut: {
    messages: [undefined, "APIError", "api_error"],
    responses: [undefined, "failed", "server_error"],
    gemini: [502, "ApiError", "UNAVAILABLE"],
  },
} satisfies Record<string, Expected>;

/** What the SDK makes of a failure. */
function shown({ status, name, kind }: Failure): unknown {
  return [status, name, kind];
}

describe.each(FACES)("through %s", (face) => {
  it.each([false, true])("a wrong key is refused; streamed: %s", async (stream) => {
    expect(shown(await failing(face, { key: "sk-wrong", stream }))).toEqual(EXPECTED.badKey[face]);
  });

  it("a model that the key may not use is one that does not exist", async () => {
    const { key } = await createKey(gateway, { models: ["gemini"] });
    const unknown = await failing(face, { provider: "unknown" });
    const closed = await failing(face, { key });
    expect(shown(unknown)).toEqual(EXPECTED.noModel[face]);
    expect(shown(closed)).toEqual(EXPECTED.noModel[face]);
    const bare = ({ message }: Failure, id: string): string =>
      message.replaceAll(id, "ID").replace(/"request_id.*/, "");
    expect(bare(closed, "openai")).toBe(bare(unknown, "unknown"));
  });

  it("a key's rate names the time to wait", async () => {
    says({ text: "Fine." });
    const { key } = await createKey(gateway, { rpm_limit: 1 });
    await answering(face, { key });
    const calls = model.requests.length;
    const refused = await failing(face, { key });
    expect(shown(refused)).toEqual(EXPECTED.rate[face]);
    expect(Number.parseFloat(refused.wait ?? "0")).toBeGreaterThan(0);
    expect(model.requests).toHaveLength(calls);
  });

  it.each([false, true])("a budget ends exactly; streamed: %s", async (stream) => {
    says({ text: "Fine." });
    const { key } = await createKey(gateway, { max_budget: 0.03 });
    const calls = model.requests.length;
    for (const provider of ["openai", "anthropic", "gemini"])
      // oxlint-disable-next-line no-await-in-loop -- each reserves what is left by the one before it.
      await answering(face, { key, stream, provider });
    const refused = await failing(face, { key, stream });
    expect(shown(refused)).toEqual(EXPECTED.budget[face]);
    expect(model.requests).toHaveLength(calls + 3);
    // Anthropic's SDK repeats a 429 unless a header says that waiting does not help.
    const isMessages = face === "messages";
    expect(refused.retries === "false" || !isMessages).toBe(true);
  });

  it.each([false, true])("a guardrail blocks; streamed: %s", async (stream) => {
    const more = { guardrails: ["blocking"] };
    expect(shown(await failing(face, { prompt: WORD, more, stream }))).toEqual(
      EXPECTED.guardrail[face],
    );
  });

  it.each(PROVIDERS)("failures of the upstream of %s keep their meaning", async (provider) => {
    const headers = { "retry-after": "7" };
    const failsAs = async (status: number, expected: Expected): Promise<Failure> => {
      says({ failure: { status, message: "the words of the upstream", headers } });
      const failure = await failing(face, { provider });
      expect(shown(failure)).toEqual(expected[face]);
      return failure;
    };
    for (const status of [401, 403]) {
      // oxlint-disable-next-line no-await-in-loop -- the model says one thing at a time.
      const { message } = await failsAs(status, EXPECTED.credential);
      expect(message).not.toContain("the words of the upstream");
    }
    const limited = await failsAs(429, EXPECTED.rate);
    expect(Number.parseFloat(limited.wait ?? "0")).toBe(7);
    await failsAs(500, EXPECTED.failed);
    for (const status of [503, 529])
      // oxlint-disable-next-line no-await-in-loop -- as above.
      expect(Number.parseFloat((await failsAs(status, EXPECTED.overloaded)).wait ?? "0")).toBe(7);
  });

  it.each(PROVIDERS)(
    "a prompt that %s finds too long is said in the face's words",
    async (provider) => {
      const own =
        "Input tokens exceed the configured limit: this model's maximum context length is 9.";
      says({ failure: { status: 400, message: own } });
      const tooLong = await failing(face, { provider });
      expect(shown(tooLong)).toEqual(EXPECTED.tooLong[face]);
      expect(tooLong.message).toContain(own);
      // Claude Code and LangChain decide by these words.
      expect(tooLong.message.includes("prompt is too long: ")).toBe(face === "messages");
    },
  );

  it.each(PROVIDERS)("a stream of %s that is cut fails after its text", async (provider) => {
    says({ text: "Some words of a text.", piece: 4, cutAfter: 5 });
    expect(shown(await failing(face, { provider, stream: true }))).toEqual(EXPECTED.cut[face]);
  });
});

describe("keys", () => {
  const sent = (path: string, headers: Record<string, string>, body: object): Promise<Response> =>
    fetch(gateway.publicUrl + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const messages = { model: "openai", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
  const contents = { contents: [{ parts: [{ text: "Hi" }] }] };
  const gemini = "/v1beta/models/openai:generateContent";
  const REQUESTS = [
    ["/v1/messages", "x-api-key", messages],
    ["/v1/messages/count_tokens", "x-api-key", messages],
    [gemini, "x-goog-api-key", contents],
    ["/v1beta/models/openai:countTokens", "x-goog-api-key", contents],
    ["/v1/responses", undefined, { model: "openai", input: "Hi" }],
  ] as const;

  it.each(REQUESTS)(
    "%s takes Bearer and %s, and refuses two that differ",
    async (path, own, body) => {
      says({ text: "Fine." });
      const { key } = await createKey(gateway, {});
      const bearer = { authorization: `Bearer ${key}` };
      const statusOf = async (headers: Record<string, string>): Promise<number> =>
        (await sent(path, headers, body)).status;
      expect(await statusOf(bearer)).toBe(200);
      expect(await statusOf({})).toBe(401);
      expect(await statusOf({ "api-key": key })).toBe(401);
      if (own === undefined) return;
      expect(await statusOf({ [own]: key })).toBe(200);
      expect(await statusOf({ [own]: key, ...bearer })).toBe(200);
      expect(await statusOf({ [own]: gateway.masterKey, ...bearer })).toBe(401);
      expect(await statusOf({ [own]: "", ...bearer })).toBe(401);
    },
  );

  it("are refused in the query, with the place where they belong", async () => {
    const { key } = await createKey(gateway, {});
    const response = await sent(`${gemini}?key=${key}`, {}, contents);
    expect(response.status).toBe(401);
    expect(await response.text()).toContain("header");
  });
});
