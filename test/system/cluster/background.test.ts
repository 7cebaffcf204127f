/**
 * Responses in the background at several processes: gateways on one Redis, workers of one gateway,
 * a killed one, one that stops, an edit meanwhile.
 */

import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type OpenAI from "openai";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  redisAnswers,
  removeKeys,
  runPrefix,
} from "../../../plugins/shared-redis/src/redis.fixture.ts";
import { configPost, configStatus, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { createScriptedModel, type ScriptedModel } from "../support/faces/scripted-model.ts";
import {
  DECLARED_KEY,
  DECLARED_KEYS,
  end,
  ENVIRONMENT,
  redisSection,
  sdkOf,
  storedGateway,
} from "../support/faces/stored-gateway.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

const hasRedis = await redisAnswers();
if (!hasRedis)
  process.stdout.write(
    "background: no Redis on 127.0.0.1:6379; the tests of several gateways are skipped by name.\n",
  );

const WORDS = "one two three four five six seven eight.";
const EVENTS = 6;
const sections = hasRedis ? redisSection(runPrefix()) + DECLARED_KEYS : "";
const pepper = randomBytes(32).toString("hex");
const provider = "responses: true";

let model: ScriptedModel;
let resumeModel: () => void;
const gateways: GatewayProcess[] = [];
const start = async (place: Parameters<typeof storedGateway>[1]): Promise<GatewayProcess> => {
  const gateway = await storedGateway(model.url, { provider, ...place });
  gateways.push(gateway);
  return gateway;
};

beforeAll(async () => {
  model = await createScriptedModel();
});
afterEach(() => resumeModel?.());
afterAll(async () => {
  for (const gateway of gateways.splice(0)) await end(gateway);
  await model?.close();
  if (hasRedis) await removeKeys();
});

/** The model stops after some events. */
function pausing(): void {
  const { promise, resolve } = Promise.withResolvers<void>();
  resumeModel = resolve;
  model.says({ text: WORDS, piece: 4, pausedAfter: { events: EVENTS, until: promise } });
}

const asked = { input: "Count.", background: true } as const;

/** A stream that its client has left, by its id and the number of the last event that was read. */
async function leftStream(sdk: OpenAI, id = "openai") {
  const calls = model.requests.length;
  const stream = await sdk.responses.create({ model: id, ...asked, stream: true });
  let [responseId, number] = ["", -1];
  for await (const event of stream) {
    number = event.sequence_number;
    if (event.type === "response.created") responseId = event.response.id;
    if (event.type === "response.output_text.delta") break;
  }
  expect(model.requests.length).toBe(calls + 1);
  return { responseId, number };
}

async function readAll(events: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const read: ResponseStreamEvent[] = [];
  for await (const event of events) read.push(event);
  return read;
}

describe.skipIf(!hasRedis)("gateways on one Redis", () => {
  let first: GatewayProcess;
  let second: GatewayProcess;
  let other: OpenAI;

  beforeAll(async () => {
    [first, second] = [await start({ sections, pepper }), await start({ sections, pepper })];
    other = sdkOf(second, DECLARED_KEY);
  });

  it("show, stream and end what another one makes", async () => {
    const sdk = sdkOf(first, DECLARED_KEY);
    pausing();
    const { responseId, number } = await leftStream(sdk);
    expect(await other.responses.retrieve(responseId)).toMatchObject({ status: "in_progress" });
    const params = { stream: true, starting_after: number } as const;
    const rest = readAll(await other.responses.retrieve(responseId, params));
    resumeModel();
    const events = await rest;
    const numbers = events.map(({ sequence_number: at }) => at);
    expect(numbers).toEqual(events.map((_, at) => number + 1 + at));
    expect(events.at(-1)).toMatchObject({ type: "response.completed" });
    const completed = { status: "completed", output_text: WORDS };
    expect(await other.responses.retrieve(responseId)).toMatchObject(completed);

    pausing();
    const closed = model.closed;
    const { responseId: id } = await leftStream(sdk);
    const cancelled = { status: "cancelled" };
    expect(await other.responses.cancel(id)).toMatchObject(cancelled);
    await eventually("the upstream left", () => model.closed > closed);
    expect(await sdk.responses.retrieve(id)).toMatchObject(cancelled);
    expect(await other.responses.cancel(id)).toMatchObject(cancelled);
  });

  it("go on over an edit, and one that stops waits for its responses", async () => {
    const sdk = sdkOf(first, DECLARED_KEY);
    pausing();
    const { responseId } = await leftStream(sdk);
    const file = join(first.workspace.pipelinesFolder, "chat.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("deadline: 600s", "deadline: 599s"));
    expect(["applied", "unchanged"]).toContain((await configPost(first, "reload")).outcome);
    expect(await configStatus(first)).toMatchObject({ draining: [{ leases: 1 }] });
    expect(await sdk.responses.retrieve(responseId)).toMatchObject({ status: "in_progress" });
    const stopped = first.stop();
    await eventually("the refusal of new requests", async () => {
      const answer = await fetch(`${first.publicUrl}/v1/models`).catch(() => undefined);
      return answer?.status !== 401;
    });
    resumeModel();
    expect(await stopped).toEqual({ code: 0, signal: null });
    expect(await other.responses.retrieve(responseId)).toMatchObject({
      status: "completed",
      output_text: WORDS,
    });
  });

  it("say that a response has failed whose gateway was stopped at once, or killed", async () => {
    const stopping = await start({ sections, pepper, server: "drain_timeout: 1s" });
    pausing();
    const { responseId: ended } = await leftStream(sdkOf(stopping, DECLARED_KEY));
    await stopping.stop();
    expect(await other.responses.retrieve(ended)).toMatchObject({ status: "failed" });

    const killed = await startGateway(stopping.workspace, ENVIRONMENT);
    pausing();
    const { responseId } = await leftStream(sdkOf(killed, DECLARED_KEY));
    await killed.kill();
    expect(await other.responses.retrieve(responseId)).toMatchObject({ status: "in_progress" });
    const failed = await eventually("the end of its lease", async () => {
      const response = await other.responses.retrieve(responseId);
      return response.status === "in_progress" ? undefined : response;
    });
    expect(failed).toMatchObject({ status: "failed", error: { code: "server_error" } });
    const again = await startGateway(stopping.workspace, ENVIRONMENT);
    const isNoted = async (): Promise<boolean> =>
      (await spendRows(again, {})).filter(({ status }) => status === "partial").length === 2;
    await eventually("the row of its call", isNoted);
    await again.stop();
  });
});

it("a response in the background is found, streamed and ended at every worker", async () => {
  const gateway = await start({ server: "workers: 2" });
  // A connection of its own goes to either worker.
  const sdk = sdkOf(gateway).withOptions({ defaultHeaders: { connection: "close" } });
  pausing();
  const { responseId, number } = await leftStream(sdk);
  const params = { stream: true, starting_after: number } as const;
  const readers = await Promise.all(
    [1, 2, 3, 4].map(() => sdk.responses.retrieve(responseId, params)),
  );
  for (let at = 0; at < 6; at++)
    expect(await sdk.responses.retrieve(responseId)).toMatchObject({ status: "in_progress" });
  const read = Promise.all(readers.map(readAll));
  resumeModel();
  const [one = [], ...others] = await read;
  expect(one.at(-1)).toMatchObject({ type: "response.completed" });
  for (const events of others) expect(events).toEqual(one);
  for (let at = 0; at < 4; at++) {
    pausing();
    const { responseId: id } = await leftStream(sdk);
    expect(await sdk.responses.cancel(id)).toMatchObject({ status: "cancelled" });
    resumeModel();
  }
});
