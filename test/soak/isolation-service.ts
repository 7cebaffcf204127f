/**
 * One local server for what `proof:isolation` needs beside an upstream: a guardrail's service, a
 * store of media, an Anthropic API.
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const PNG = Buffer.from("89504e470d0a1a0a0000000d4948445200000001000000010806000000", "hex");
const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "any",
  content: [{ type: "text", text: "An image." }],
  stop_reason: "end_turn",
  usage: { input_tokens: 5, output_tokens: 3 },
};

/** Starts it. Whatever says SLOW is never answered. */
export async function openService(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const { url = "" } = request;
      if (url.includes("SLOW") || (url === "/judge" && body.includes("SLOW"))) return;
      if (url.endsWith(".png"))
        return void response.writeHead(200, { "content-type": "image/png" }).end(PNG);
      const start = body.includes("forbidden")
        ? (JSON.parse(body) as { text: string }).text.indexOf("forbidden")
        : -1;
      const verdict =
        start < 0
          ? { action: "allow" }
          : { action: "block", reason: "word", start, end: start + 9 };
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(url === "/judge" ? verdict : MESSAGE));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
