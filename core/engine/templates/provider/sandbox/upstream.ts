/** Plays the upstream for a first try: answers every request with the fixtures of the case `text`, on 127.0.0.1:4010 or `PORT`. */

import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const fixture = (name: string): Buffer => readFileSync(new URL(`../fixtures/text/${name}`, import.meta.url));
const MAX_BYTES = 1024 * 1024;

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text: string) => {
    body += text;
    if (body.length > MAX_BYTES) request.destroy();
  });
  request.on("end", () => {
    const isStream = body.includes('"delivery":"events"');
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    response.end(fixture(isStream ? "stream.in.sse" : "reply.in.json"));
  });
});

server.listen(Number(process.env.PORT ?? 4010), "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  process.stdout.write(`The upstream's part is played on http://127.0.0.1:${port}.\n`);
});
