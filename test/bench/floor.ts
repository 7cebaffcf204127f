/**
 * The floor: what a proxy on Koa and undici costs that parses both bodies and does nothing else. A
 * stream is piped through unparsed. `node floor.ts --port 0 --upstream http://127.0.0.1:9000`.
 */

import type { Readable } from "node:stream";
import { parseArgs } from "node:util";
import Koa from "koa";
import { Agent, request } from "undici";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    upstream: { type: "string", default: "" },
    connections: { type: "string", default: "256" },
  },
});

const agent = new Agent({ connections: Number(values.connections), pipelining: 1 });
const app = new Koa();
// Clients that end a stream early are no fault.
app.silent = true;

app.use(async (ctx) => {
  const body = await collect(ctx.req);
  const parsed = JSON.parse(body.toString()) as { readonly stream?: boolean };
  const reply = await request(`${values.upstream}${ctx.path}`, {
    method: "POST",
    dispatcher: agent,
    headers: { "content-type": "application/json", authorization: "Bearer sk-upstream" },
    body,
  });
  ctx.status = reply.statusCode;
  ctx.set("content-type", String(reply.headers["content-type"]));
  if (parsed.stream === true) {
    ctx.body = reply.body;
    return;
  }
  const bytes = await collect(reply.body);
  JSON.parse(bytes.toString());
  ctx.body = bytes;
});

const server = app.listen(Number(values.port), "127.0.0.1", () =>
  console.log(JSON.stringify(server.address())),
);

/** Most bodies come in one piece; that case copies nothing. */
async function collect(stream: Readable): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}
