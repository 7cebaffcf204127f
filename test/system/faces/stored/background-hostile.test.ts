/**
 * Hostile clients of responses in the background: floods, readers that do not read, cancellations
 * at once, keys and budgets that end meanwhile, guardrails, repeats.
 */

import { connect, type Socket } from "node:net";
import type OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { admin, createKey, spendRows } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { createScriptedModel, type ScriptedModel } from "../../support/faces/scripted-model.ts";
import { end, sdkOf, storedGateway } from "../../support/faces/stored-gateway.ts";
import type { GatewayProcess } from "../../support/gateway-process.ts";
import { amount } from "../../support/proof.ts";

const OF_A_KEY = 4;
const IN_ALL = 12;
const FLOOD = amount(100, 10_000);
const READERS = amount(40, 100);
const BANNED = "zqbannedzq";
const WORDS = "one two three four five six seven eight.";

let model: ScriptedModel;
let gateway: GatewayProcess;
let sdk: OpenAI;
let release: () => void = () => undefined;

beforeAll(async () => {
  model = await createScriptedModel();
  gateway = await storedGateway(model.url, {
    provider: "responses: true",
    step: `{ max_background_per_key: ${OF_A_KEY}, max_background: ${IN_ALL}, max_per_key: 1mb, max_entry: 64kb }`,
    server: "stalled_client_timeout: 2s",
    sections: `guardrails: { words: { use: words, lists: [{ name: a, words: [${BANNED}] }] } }\n`,
  });
  sdk = sdkOf(gateway);
});
afterEach(() => {
  release();
  model.says({ text: "Hello back." });
});
afterAll(async () => {
  await end(gateway);
  await model?.close();
});

/** The model waits before its reply until it is released. */
function waiting(): void {
  const { promise, resolve } = Promise.withResolvers<void>();
  release = resolve;
  model.says({ text: WORDS, piece: 4, usage: [20, 5], until: promise });
}

const asked = { model: "anthropic", input: "Count.", background: true } as const;
const keyed = async (fields: object): Promise<[OpenAI, string]> => {
  const { key } = await createKey(gateway, fields);
  return [sdkOf(gateway, key), key];
};
const ended = (client: OpenAI, id: string) =>
  eventually(`the end of ${id}`, async () => {
    const response = await client.responses.retrieve(id);
    return response.status === "in_progress" ? undefined : response;
  });
const statusOf = async (promise: Promise<unknown>): Promise<number> => {
  try {
    await promise;
    return 200;
  } catch (error) {
    return (error as { readonly status?: number }).status ?? -1;
  }
};

describe("a flood", () => {
  it(`of ${FLOOD} requests has the responses of its bound, and leaves places for another key`, async () => {
    const [[client], [other]] = [await keyed({}), await keyed({})];
    waiting();
    const calls = model.requests.length;
    const ids: string[] = [];
    const refusals = new Map<string, number>();
    for (let sent = 0; sent < FLOOD; sent += 50) {
      const round = Array.from({ length: Math.min(50, FLOOD - sent) }, () =>
        client.responses.create(asked).then(
          ({ id }) => void ids.push(id),
          ({ status, code }: { readonly status: number; readonly code: string }) =>
            void refusals.set(`${status} ${code}`, (refusals.get(`${status} ${code}`) ?? 0) + 1),
        ),
      );
      // oxlint-disable-next-line no-await-in-loop -- so many at once.
      await Promise.all(round);
    }
    expect(ids).toHaveLength(OF_A_KEY);
    expect([...refusals]).toEqual([["429 rate_limit_exceeded", FLOOD - OF_A_KEY]]);
    expect(model.requests.length).toBe(calls + OF_A_KEY);
    const foreign = await other.responses.create(asked);
    const page = await (await admin(gateway, "/metrics")).text();
    expect(page).toMatch(new RegExp(`^sluice_responses_background_running ${OF_A_KEY + 1}$`, "m"));
    const ends = await Promise.all(ids.map((id) => client.responses.cancel(id)));
    expect(ends.map(({ status }) => status)).toEqual(ids.map(() => "cancelled"));
    release();
    expect(await ended(other, foreign.id)).toMatchObject({ status: "completed" });
  });

  it("of several keys has the bound of the process, as a 503 that may be repeated", async () => {
    const clients = await Promise.all(Array.from({ length: 5 }, async () => (await keyed({}))[0]));
    waiting();
    const made = await Promise.all(
      clients.flatMap((client) =>
        Array.from({ length: OF_A_KEY }, () =>
          client.responses.create(asked).then(
            ({ id }) => ({ client, id }),
            (error: unknown) => error as { readonly status: number; readonly headers: Headers },
          ),
        ),
      ),
    );
    const ids = made.filter((each) => "id" in each);
    const errors = made.filter((each) => "status" in each);
    expect(ids.length).toBeLessThanOrEqual(IN_ALL);
    // Each has a part, in whatever order they come.
    expect(new Set(ids.map(({ client }) => client)).size).toBe(clients.length);
    for (const { status, headers } of errors) {
      expect(status).toBe(503);
      expect(headers.get("retry-after")).toBe("1");
    }
    release();
    for (const { client, id } of ids)
      expect(await ended(client, id)).toMatchObject({ status: "completed" });
  });

  it("of stored responses takes those of its own key alone, and what is being made goes on", async () => {
    const [[client], [other]] = [await keyed({}), await keyed({})];
    const { id: foreign } = await other.responses.create({ model: "openai", input: "Mine." });
    waiting();
    const calls = model.requests.length;
    const { id } = await client.responses.create(asked);
    await eventually("the call", () => model.requests.length > calls);
    const resume = release;
    model.says({ text: "x".repeat(20_000) });
    for (let at = 0; at < 60; at++)
      // oxlint-disable-next-line no-await-in-loop -- the order is that of the store.
      await client.responses.create({ model: "anthropic", input: `${at} ${"y".repeat(9_000)}` });
    expect(await statusOf(client.responses.retrieve(id))).toBe(404);
    expect(await other.responses.retrieve(foreign)).toMatchObject({ status: "completed" });
    resume();
    const last = await eventually("the last entry", () =>
      client.responses.retrieve(id).catch(() => undefined),
    );
    expect(last).toMatchObject({ status: "completed", output_text: WORDS });
  });
});

/** A reading of events by a client that does not read. */
function unread(id: string, key: string): Promise<Socket> {
  const { port } = new URL(gateway.publicUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1", () => {
      socket.pause();
      const path = `/v1/responses/${id}?stream=true&starting_after=-1`;
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
      resolve(socket);
    });
    socket.on("error", reject);
  });
}

describe("readers", () => {
  it(`${READERS} that do not read hold up neither the response nor other readers`, async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    release = resolve;
    const noise = Array.from({ length: 600 }, () => crypto.randomUUID()).join(" ");
    model.says({ text: noise, piece: 100, pausedAfter: { events: 8, until: promise } });
    const [client, key] = await keyed({});
    const stream = await client.responses.create({ ...asked, stream: true });
    let id = "";
    for await (const event of stream) {
      if (event.type === "response.created") id = event.response.id;
      if (event.type === "response.output_text.delta") break;
    }
    const sockets = await Promise.all(Array.from({ length: READERS }, () => unread(id, key)));
    release();
    expect(await ended(client, id)).toMatchObject({ status: "completed", output_text: noise });
    let text = "";
    for await (const event of await client.responses.retrieve(id, { stream: true }))
      if (event.type === "response.output_text.delta") text += event.delta;
    expect(text).toBe(noise);
    for (const socket of sockets) socket.destroy();
  });

  it("that ask for nonsense are refused", async () => {
    const { id } = await sdk.responses.create({ ...asked, stream: true }).then(async (stream) => {
      for await (const event of stream)
        if (event.type === "response.created") return event.response;
      throw new Error("The stream did not begin.");
    });
    await ended(sdk, id);
    for (const after of ["-2", "1e3", "x", "9".repeat(16), "1,2"]) {
      const path = `/v1/responses/${id}?stream=true&starting_after=${after}`;
      // oxlint-disable-next-line no-await-in-loop -- a few.
      const response = await fetch(gateway.publicUrl + path, {
        headers: { authorization: `Bearer ${gateway.masterKey}` },
      });
      expect([after, response.status]).toEqual([after, 400]);
    }
  });
});

describe("cancellations", () => {
  it("at once agree, and nothing changes an end", async () => {
    waiting();
    const { id } = await sdk.responses.create(asked);
    const many = () => Promise.all(Array.from({ length: 20 }, () => sdk.responses.cancel(id)));
    const statuses = new Set((await many()).map(({ status }) => status));
    expect([...statuses]).toEqual(["cancelled"]);
    release();
    await many();
    expect(await sdk.responses.retrieve(id)).toMatchObject({ status: "cancelled", output: [] });
    const rows = await spendRows(gateway, {});
    expect(rows[0]).toMatchObject({ status: expect.stringMatching(/failure|partial/) });
  });

  it("in the moment of the end have one answer for ever", async () => {
    for (let round = 0; round < amount(10, 200); round++) {
      model.says({ text: WORDS });
      // oxlint-disable-next-line no-await-in-loop -- one race after the other.
      const { id } = await sdk.responses.create(asked);
      // oxlint-disable-next-line no-await-in-loop -- as above.
      const answers = await Promise.all([1, 2, 3].map(() => sdk.responses.cancel(id)));
      const [status] = new Set(answers.map((answer) => answer.status));
      expect(answers.map((answer) => answer.status)).toEqual([status, status, status]);
      // oxlint-disable-next-line no-await-in-loop -- as above.
      expect((await sdk.responses.retrieve(id)).status).toBe(status);
    }
  });
});

describe("meanwhile", () => {
  it("a key that is revoked reads nothing more, and its call has a row", async () => {
    const [client, key] = await keyed({});
    waiting();
    const calls = model.requests.length;
    const { data, response } = await client.responses.create(asked).withResponse();
    await eventually("the call", () => model.requests.length > calls);
    await admin(gateway, "/key/delete", { keys: [key] });
    expect(await statusOf(client.responses.retrieve(data.id))).toBe(401);
    expect(await statusOf(client.responses.cancel(data.id))).toBe(401);
    expect(await statusOf(client.responses.create(asked))).toBe(401);
    release();
    const requestId = response.headers.get("x-request-id") ?? "";
    const row = await eventually("the row", async () => {
      const [found] = await spendRows(gateway, { request_id: requestId });
      return found;
    });
    expect(row).toMatchObject({ status: "success", completion_tokens: 5 });
  });

  it("a budget that others use up refuses the next one, and the first is whole and billed", async () => {
    const [client] = await keyed({ max_budget: 0.005 });
    waiting();
    const first = await client.responses.create({ ...asked, max_output_tokens: 300 });
    const refusal = { status: 429, code: "insufficient_quota" };
    await expect(
      client.responses.create({ ...asked, max_output_tokens: 300 }),
    ).rejects.toMatchObject(refusal);
    release();
    expect(await ended(client, first.id)).toMatchObject({ status: "completed" });
  });

  it("a guardrail that blocks the reply leaves nothing of it", async () => {
    model.says({ text: `It is ${BANNED}, they say.`, piece: 5 });
    const guarded = { ...asked, guardrails: ["words"] } as typeof asked;
    const { id } = await sdk.responses.create(guarded);
    const failed = { status: "failed", error: { code: "invalid_prompt" }, output: [] };
    expect(await ended(sdk, id)).toMatchObject(failed);
    const events: string[] = [];
    for await (const event of await sdk.responses.create({ ...guarded, stream: true }))
      events.push(JSON.stringify(event));
    expect(events.join("")).toContain("response.failed");
    expect(events.join("")).not.toContain(BANNED);
    await expect(
      sdk.responses.create({ ...guarded, input: `Say ${BANNED}.` }),
    ).rejects.toMatchObject({ status: 400, code: "guardrail_violation" });
  });

  it("a client that takes nothing of its stream ends it for itself alone", async () => {
    const noise = "z".repeat(40_000);
    model.says({ text: noise, piece: 400 });
    const { port } = new URL(gateway.publicUrl);
    const body = JSON.stringify({ ...asked, stream: true });
    const head = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), "127.0.0.1", () =>
        socket.write(
          `POST /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.masterKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        ),
      );
      socket.once("data", (bytes: Buffer) => {
        socket.destroy();
        resolve(bytes.toString());
      });
      socket.on("error", reject);
    });
    const [, id = ""] = /x-sluice-response-id: (\S+)/.exec(head) ?? [];
    expect(await ended(sdk, id)).toMatchObject({ status: "completed", output_text: noise });
  });

  it("a repeat by its key is the first response, and another body is refused", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const first = await sdk.responses.create(asked, { headers });
    await ended(sdk, first.id);
    const calls = model.requests.length;
    const again = await sdk.responses.create(asked, { headers });
    expect(again).toMatchObject({ id: first.id, status: "completed", background: true });
    expect(model.requests.length).toBe(calls);
    await expect(
      sdk.responses.create({ ...asked, input: "Other." }, { headers }),
    ).rejects.toMatchObject({ status: 409 });
  });

  it("a cached reply is a response of its own", async () => {
    const cached = { ...asked, instructions: "Cached.", caching: true } as typeof asked;
    const first = await sdk.responses.create(cached);
    await ended(sdk, first.id);
    const calls = model.requests.length;
    for (const stream of [false, true]) {
      // oxlint-disable-next-line no-await-in-loop -- whole and streamed.
      const answer = await sdk.responses.create({ ...cached, stream } as typeof asked & {
        stream: false;
      });
      const id = stream ? await idOf(answer as unknown as AsyncIterable<unknown>) : answer.id;
      expect(id).not.toBe(first.id);
      // oxlint-disable-next-line no-await-in-loop -- as above.
      expect(await ended(sdk, id)).toMatchObject({
        status: "completed",
        output_text: "Hello back.",
      });
    }
    expect(model.requests.length).toBeLessThanOrEqual(calls + 1);
  });
});

async function idOf(events: AsyncIterable<unknown>): Promise<string> {
  let id = "";
  for await (const event of events as AsyncIterable<{ type: string; response?: { id: string } }>)
    id ||= event.response?.id ?? "";
  return id;
}
