/**
 * Headers of upstream calls (journeys B3, contract 4.5): of a step, of the configuration, of the
 * client; and `via` against loops (F19).
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const STEP = `
import { defineStep } from "@sluice/kit";
import { setCallHeader } from "@sluice/runtime/transport";

export default defineStep({
  name: "tenant",
  stability: "experimental",
  summary: "Adds headers to upstream calls.",
  config: { type: "object", properties: {} },
  create: () => ({
    async run({ exchange }, next) {
      setCallHeader(exchange, "X-Tenant", "blue");
      setCallHeader(exchange, "user-agent", "not this");
      for (const [name, value] of [["Authorization", "Bearer mine"], ["x-forwarded-for", "10.0.0.1"], ["x-bad", "a\\r\\nb: c"]]) {
        try {
          setCallHeader(exchange, name, value);
          exchange.headers.set("x-accepted", name);
        } catch (error) {
          if (!(error instanceof TypeError)) throw error;
        }
      }
      await next();
    },
  }),
});
`;

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    provider:
      "call_headers: { X-Team: red, x-tenant: none }, pass_headers: [OpenAI-Project, x-upstream-auth]",
  });
  mkdirSync(join(workspace.folder, "my-plugins"));
  writeFileSync(join(workspace.folder, "my-plugins/tenant.ts"), STEP);
  workspace.write(
    readFileSync(workspace.configPath, "utf8").replace(
      "plugins:\n",
      "plugins:\n  - ../my-plugins/tenant.ts\n",
    ),
  );
  for (const name of ["chat", "embeddings", "images", "passthrough"]) {
    const file = join(workspace.pipelinesFolder, `${name}.yaml`);
    writeFileSync(file, readFileSync(file, "utf8").replace(/^ {2}- auth.*$/m, "$&\n  - tenant"));
  }
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const SENT = {
  "openai-project": "p-1",
  "x-upstream-auth": "u-1",
  "x-other": "o-1",
  via: "1.1 edge.internal, 1.1 sluice",
};

/** The headers of the last call that the upstream got. */
const got = () => upstream.requests.at(-1)?.headers ?? {};

describe("an upstream call", () => {
  it.each([
    ["chat", "/v1/chat/completions", { model: "gpt-4o-mini", messages: MESSAGES }],
    ["embeddings", "/v1/embeddings", { model: "openai/text-embedding-3-small", input: "text" }],
    ["images", "/v1/images/generations", { model: "openai/gpt-image-1", prompt: "text" }],
    ["native", "/openai/v1/chat/completions", { model: "gpt-4o-mini", messages: MESSAGES }],
  ])(
    "of %s has the headers of the step, of the configuration and of the client",
    async (_kind, path, body) => {
      const before = upstream.requests.length;
      const response = await fetch(`${gateway.publicUrl}${path}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.masterKey}`,
          "content-type": "application/json",
          ...SENT,
        },
        body: JSON.stringify(body),
      });
      await response.text();
      expect(upstream.requests.length).toBe(before + 1);
      expect(got()).toMatchObject({
        "x-tenant": "blue",
        "x-team": "red",
        "openai-project": "p-1",
        "x-upstream-auth": "u-1",
        via: "1.1 sluice, 1.1 sluice",
      });
      expect(got()).not.toHaveProperty("x-other");
      expect(got()).not.toHaveProperty("x-forwarded-for");
      expect(got()["authorization"]).not.toContain("mine");
      expect(response.headers.get("x-accepted")).toBeNull();
    },
  );

  it("that would go round between gateways is refused before it is made", async () => {
    const before = upstream.requests.length;
    const via = Array.from({ length: 6 }, () => "1.1 sluice").join(", ");
    const response = await chat(
      gateway,
      { model: "gpt-4o-mini", messages: MESSAGES },
      { headers: { via } },
    );
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: "via", code: 400 } });
    expect(upstream.requests.length).toBe(before);
    const five = Array.from({ length: 5 }, () => "1.1 sluice").join(", ");
    expect(
      (
        await chat(
          gateway,
          { model: "gpt-4o-mini", messages: MESSAGES },
          { headers: { via: five } },
        )
      ).status,
    ).toBe(200);
  });
});

describe("a header that goes on to the upstream", () => {
  const answer = async (
    body: object,
    headers: Readonly<Record<string, string>>,
    path = "/v1/chat/completions",
  ) => {
    const response = await fetch(`${gateway.publicUrl}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.masterKey}`,
        "content-type": "application/json",
        ...headers,
      },
      body: JSON.stringify({ model: "gpt-4o-mini", messages: MESSAGES, ...body }),
    });
    await response.text();
    return response;
  };

  it("is a part of what a cached reply was asked for", async () => {
    const ask = async (headers: Readonly<Record<string, string>>): Promise<string | null> =>
      (await answer({ caching: true }, headers)).headers.get("x-sluice-cache");
    expect(await ask({ "openai-project": "one" })).toBe("miss");
    expect(await ask({ "openai-project": "two" })).toBe("miss");
    expect(await ask({ "openai-project": "one" })).toBe("hit");
    expect(await ask({ "openai-project": "one", "x-other": "1" })).toBe("hit");
  });

  it("keeps requests from sharing a call", async () => {
    upstream.script("gpt-4o-mini", { kind: "reply", delayMs: 300 });
    const before = upstream.requests.length;
    const body = { caching: true, temperature: 0.3 };
    await Promise.all(
      ["three", "three", "four"].map((project) => answer(body, { "openai-project": project })),
    );
    expect(
      upstream.requests
        .slice(before)
        .map(({ headers }) => headers["openai-project"])
        .toSorted(),
    ).toEqual(["four", "three"]);
    upstream.script("gpt-4o-mini", { kind: "reply" });
  });

  it.each([
    ["a chat", "/v1/chat/completions", "openai-project"],
    ["a native request", "/openai/v1/chat/completions", "openai-beta"],
  ])("is a part of what an Idempotency-Key of %s was used for", async (kind, path, name) => {
    const repeat = (value: string) =>
      answer({}, { "idempotency-key": `headers of ${kind}`, [name]: value }, path);
    expect((await repeat("one")).status).toBe(200);
    const same = await repeat("one");
    expect([same.status, same.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect((await repeat("two")).status).toBe(409);
  });
});

describe("sluice check", () => {
  it("refuses credentials, and headers of the connection and of forwarding", async () => {
    const own = createWorkspace({
      provider:
        "call_headers: { Authorization: x, x-ok: y }, pass_headers: [api-key, x-forwarded-for, content-length, traceparent]",
    });
    try {
      const command = runCommand(["check", "--config", own.configPath], own.folder);
      await command.ended;
      const lines = command.stdout.trim().split("\n");
      expect(lines.map((line) => /names "([\w-]+)"/.exec(line)?.[1])).toEqual([
        "Authorization",
        "api-key",
        "x-forwarded-for",
        "content-length",
      ]);
    } finally {
      own.remove();
    }
  });
});
