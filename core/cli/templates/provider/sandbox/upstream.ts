/**
 * A test upstream: answers every request with the cases of `fixtures/text.cases.json`, on
 * 127.0.0.1:4010 or `PORT`.
 */

import { createServer } from "node:http";
import { fixtureInput } from "@sluice/testing";

const FIXTURES = new URL("../fixtures/", import.meta.url);
const MAX_BYTES = 1024 * 1024;

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text: string) => {
    body += text;
    if (body.length > MAX_BYTES) request.destroy();
  });
  request.on("end", () => {
    const isStream = body.includes('"delivery":"events"');
    response.writeHead(200, {
      "content-type": isStream ? "text/event-stream" : "application/json",
    });
    response.end(fixtureInput(FIXTURES, isStream ? "text/stream" : "text/reply"));
  });
});

server.listen(Number(process.env.PORT ?? 4010), "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  process.stdout.write(`The test upstream listens on http://127.0.0.1:${port}.\n`);
});
