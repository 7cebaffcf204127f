import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openPool, within } from "@sluice/testing/serve-http";

let server: Server;
/** The reads of the upstream's sockets. */
let reads: Buffer[];

beforeEach(async () => {
  reads = [];
  server = createServer((socket: Socket) => {
    socket.on("error", () => undefined);
    let length = 0;
    socket.on("data", (read: Buffer) => {
      reads.push(read);
      length += read.length;
      const head = reads[0]!.indexOf("\r\n\r\n") + 4;
      const body = Number(/content-length: (\d+)/i.exec(reads[0]!.toString("latin1"))?.[1]);
      if (length === head + body) socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
});

afterEach(() => void server.close());

const post = async (body: string): Promise<string> => {
  const { port } = server.address() as AddressInfo;
  const response = await openPool({ connections: 1 }).send(
    {
      kind: "http",
      method: "POST",
      url: `http://127.0.0.1:${port}/v1`,
      headers: { "content-type": "application/json" },
      body,
    },
    within(),
  );
  await response.body.collect(10);
  const all = Buffer.concat(reads);
  return all.subarray(all.indexOf("\r\n\r\n") + 4).toString("utf8");
};

it("sends the head and the body of a small request in one piece", async () => {
  const body = JSON.stringify({ text: "Grüße, 世界 😀" });
  expect(await post(body)).toBe(body);
  expect(reads).toHaveLength(1);
});

it("sends a request that is not small as it is", async () => {
  const body = JSON.stringify({ text: "é世".repeat(40_000) });
  expect(await post(body)).toBe(body);
});
