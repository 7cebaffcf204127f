import { describe, expect, it } from "vitest";
import type { Frame } from "@sluice/contract";
import { rawFrame } from "@sluice/kit/internals";
import { bodyOf, exchange, GET } from "../http.fixture.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { writeStream } from "./stream.ts";
import { referenceForm } from "../form/reference.ts";

const EVERY_MS = 5;
const PING = ": ping\n\n";

describe("a heartbeat", () => {
  it("beats while a stream is silent, between events, and not behind its end", async () => {
    const { response, received, client } = await exchange(GET);
    let text = "";
    client.on("data", (chunk: Buffer) => (text += chunk.toString()));
    const beats = async (count: number): Promise<void> => {
      while (text.split(PING).length <= count)
        await new Promise((resolve) => setImmediate(resolve));
    };
    async function* frames(): AsyncGenerator<Frame, void, undefined> {
      yield rawFrame('{"a":1}');
      await beats(2);
      yield rawFrame('{"a":2}');
      await beats(3);
    }
    await writeStream(
      response,
      { kind: "stream", status: 200, frames: frames() },
      [],
      EVERY_MS,
      referenceForm(),
      async () => "",
    );
    const body = bodyOf(await received);
    expect(body).toMatch(
      /^data: \{"a":1\}\n\n(: ping\n\n){2,}data: \{"a":2\}\n\n(: ping\n\n)+data: \[DONE\]\n\n$/,
    );
  });

  it("does not beat for 0", async () => {
    const { response, received } = await exchange(GET);
    async function* frames(): AsyncGenerator<Frame, void, undefined> {
      yield rawFrame('{"a":1}');
      await new Promise((resolve) => setTimeout(resolve, 4 * EVERY_MS));
    }
    await writeStream(
      response,
      { kind: "stream", status: 200, frames: frames() },
      [],
      0,
      referenceForm(),
      async () => "",
    );
    expect(bodyOf(await received)).toBe('data: {"a":1}\n\ndata: [DONE]\n\n');
  });

  it("waits for a client that has not read what it was sent", async () => {
    const { response, client } = await exchange(GET, { isPaused: true });
    response.writeHead(200);
    // More than the kernel takes in both directions.
    response.write(Buffer.alloc(32 * 1024 * 1024));
    const waiting = response.writableLength;
    const heartbeat = startHeartbeat(response, EVERY_MS, PING);
    await new Promise((resolve) => setTimeout(resolve, 5 * EVERY_MS));
    expect(response.writableLength).toBe(waiting);
    client.resume();
    await new Promise((resolve) => response.once("drain", resolve));
    const pinged = new Promise<void>((resolve) => {
      client.on("data", (chunk: Buffer) => chunk.includes(PING) && resolve());
    });
    await pinged;
    heartbeat.stop();
  });

  it("is put off by everything that is written", async () => {
    const { response, client, received } = await exchange(GET);
    response.writeHead(200).write("begin");
    const heartbeat = startHeartbeat(response, 40, PING);
    for (let written = 0; written < 10; written++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      heartbeat.wrote();
    }
    heartbeat.stop();
    response.end();
    client.resume();
    expect(await received).not.toContain(PING);
  });
});
