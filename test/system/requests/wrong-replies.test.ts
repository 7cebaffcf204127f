/**
 * Steps that leave something that is no reply: 500 with the rows first, what was replaced is
 * closed, the process goes on.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, MESSAGES, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

/** What the step does, by the client's \`user\`. The reply of the upstream is \`reply\`. */
const DEEDS: Readonly<Record<string, string>> = {
  object: "exchange.reply = {}",
  number: "exchange.reply = 42",
  text: 'exchange.reply = "text"',
  array: "exchange.reply = []",
  nothing: "exchange.reply = undefined",
  null: "exchange.reply = null",
  "no-kind": "exchange.reply = { ...reply, kind: 'page' }",
  "no-status": "exchange.reply = { ...reply, status: 'fine' }",
  "low-status": "exchange.reply = { ...reply, status: 42 }",
  "no-document": "exchange.reply = { kind: 'whole', status: 200 }",
  "odd-document": "exchange.reply = { kind: 'whole', status: 200, document: 'text' }",
  "odd-bytes":
    "exchange.reply = { kind: 'whole', status: 200, document: { bytes: 42, value: {}, with() {} } }",
  "no-frames": "exchange.reply = { kind: 'stream', status: 200 }",
  "odd-frames": "exchange.reply = { kind: 'stream', status: 200, frames: {} }",
  "no-body": "exchange.reply = { kind: 'bytes', status: 200, headers: {} }",
  "odd-body": "exchange.reply = { kind: 'bytes', status: 200, headers: {}, body: [1] }",
  "no-headers": "exchange.reply = { kind: 'bytes', status: 200, body: (async function* () {})() }",
  "bad-headers":
    "exchange.reply = { kind: 'bytes', status: 200, headers: { 'x-a': 'a\\nb' }, body: (async function* () {})() }",
  "changed-later": "delete exchange.reply.kind",
  "failed-return":
    "exchange.reply = { kind: 'stream', status: 200, frames: { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true }), return() { throw new Error('no return') } }) } }; throw new Error('behind it')",
  "endless-return":
    "exchange.reply = { kind: 'stream', status: 200, frames: { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true }), return: () => new Promise(() => {}) }) } }; throw new Error('behind it')",
};

const PLUGIN = `
import { defineStep } from "@sluice/kit";

export default defineStep<object>({
  name: "no-reply",
  stability: "experimental",
  summary: "Leaves something that is no reply.",
  config: { type: "object", properties: {} },
  create: () => ({
    async run({ exchange }, next) {
      const user = String(exchange.request?.endUser ?? "");
      const [deed, isEarly] = user.split(":");
      if (isEarly === undefined) await next();
      const reply = exchange.reply as any;
      const deeds: any = {
${Object.entries(DEEDS)
  .map(([name, code]) => `        ${JSON.stringify(name)}: (exchange: any) => { ${code} },`)
  .join("\n")}
      };
      deeds[deed ?? ""]?.(exchange);
    },
  }),
});
`;

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  const workspace = createWorkspace({ baseUrl: upstream.baseUrl });
  mkdirSync(join(workspace.folder, "plugins"));
  writeFileSync(join(workspace.folder, "plugins/no-reply.ts"), PLUGIN);
  const text = readFileSync(workspace.configPath, "utf8");
  workspace.write(text.replace("plugins:\n", 'plugins:\n  - "../plugins/no-reply.ts"\n'));
  const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
  writeFileSync(
    pipeline,
    readFileSync(pipeline, "utf8").replace(/^( +- )guardrails\b/m, "$1no-reply\n$&"),
  );
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const cases = Object.keys(DEEDS).flatMap((deed) => [
  { deed, stream: false, isEarly: false },
  { deed, stream: true, isEarly: false },
  { deed, stream: false, isEarly: true },
]);
// Without a reply there is nothing to change.
const possible = cases.filter(
  ({ deed, isEarly }) =>
    !isEarly || !["no-kind", "no-status", "low-status", "changed-later"].includes(deed),
);

describe("what a step leaves that is no reply", () => {
  it.each(possible)(
    "$deed, streamed: $stream, before the call: $isEarly",
    async ({ deed, stream, isEarly }) => {
      const calls = upstream.requests.length;
      const user = isEarly ? `${deed}:early` : deed;
      const response = await chat(gateway, {
        model: "gpt-4o-mini",
        messages: MESSAGES,
        stream,
        user,
      });
      expect(response.status).toBe(500);
      const id = response.headers.get("x-request-id");
      expect(await response.json()).toMatchObject({ error: { type: "server_error", code: 500 } });
      const rows = await rowsOf(gateway, id);
      expect(rows).toHaveLength(1);
      expect(upstream.requests.length - calls).toBe(isEarly ? 0 : 1);
      // What only shows as it is written has its row by then.
      const code = deed === "odd-bytes" ? {} : { error_code: "plugin_failed" };
      expect(rows[0]).toMatchObject(isEarly ? { attempt: 0, ...code } : { attempt: 1 });
      const lines = gateway.stderr.split("\n").filter((line) => line.includes(String(id)));
      expect(
        lines.some((line) => line.includes('"request failed"') && line.includes("plugin_failed")),
      ).toBe(true);
    },
  );

  it("leaves no call open, and serves on", async () => {
    const response = await chat(gateway, {
      model: "gpt-4o-mini",
      messages: MESSAGES,
      user: "none",
    });
    expect(response.status).toBe(200);
    await response.text();
    await eventually("the end of all requests", async () => {
      const metrics = await (await admin(gateway, "/metrics")).text();
      return /^sluice_requests_in_flight 0$/m.test(metrics);
    });
  });
});
