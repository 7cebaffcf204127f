/**
 * Guardrails in threads of their own, and plugins that misbehave: the policy's outcome, without an
 * effect on other requests.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat } from "../support/client.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const PLUGIN = `
import { defineGuardrail, defineStep } from "@sluice/kit";
import { isMainThread } from "node:worker_threads";

interface FaultyConfig { readonly secret?: { reveal(): string }; readonly wants?: string }

const faulty = defineGuardrail<FaultyConfig>({
  name: "faulty",
  stability: "experimental",
  summary: "Misbehaves as configured.",
  config: {
    type: "object",
    properties: {
      secret: { type: "string", "x-secret": true, description: "A secret." },
      wants: { type: "string", description: "A member of the host to ask for." },
    },
  },
  sample: () => "deny me",
  create: ({ secret, wants }, host) => {
    if (wants !== undefined) host[wants];
    const leak = [];
    return {
      reach: 40,
      check(text, signal, context) {
        if (text.includes("deny me")) return { kind: "block", reason: "sample" };
        const [, how] = /TROUBLE:(\\w+)/.exec(text) ?? [];
        switch (how) {
          case "throw": throw new Error("quotes " + text);
          case "hang": return new Promise(() => {});
          case "loop": for (;;);
          case "busy": for (const end = performance.now() + 300; performance.now() < end; ); return { kind: "allow" };
          case "exit": process.exit(3);
          case "leak": for (;;) leak.push(Array.from({ length: 50_000 }, (_, at) => at));
          case "mutate": context.part = "x"; return { kind: "allow" };
          case "invalid": return { kind: "perhaps", self: () => {} };
          case "where": {
            host.log.info("a line of its own", { main: isMainThread });
            const start = text.indexOf("where");
            return { kind: "edit", spans: [{ start, end: start + 5, replacement: isMainThread + "/" + secret?.reveal() }] };
          }
          default: return { kind: "allow" };
        }
      },
      admit(request) {
        if (request.body.user === "mutant") request.body.messages.push({ role: "user", content: "more" });
        return request.body.user === "mallory" ? { kind: "block", reason: "user" } : { kind: "allow" };
      },
    };
  },
});

const twice = defineStep({
  name: "twice",
  stability: "experimental",
  summary: "Calls next() twice.",
  config: { type: "object", properties: {} },
  create: () => ({ async run({ exchange }, next) { await next(); if (exchange.request?.document.value.user === "twice") await next(); } }),
});

export default [faulty, twice];
`;

const SECRET = "a-secret-of-the-guardrail";

let upstream: Upstream;
let gateway: GatewayProcess;

function isolatedWorkspace(baseUrl: string, guardrails: readonly string[]): Workspace {
  const workspace = createWorkspace({ baseUrl, attempts: 1 });
  mkdirSync(join(workspace.folder, "my-plugins"));
  writeFileSync(join(workspace.folder, "my-plugins/faulty.ts"), PLUGIN);
  const section = `guardrails:\n${guardrails.map((line) => `  ${line}\n`).join("")}`;
  const text = readFileSync(workspace.configPath, "utf8");
  workspace.write(
    text
      .replace("plugins:\n", 'plugins:\n  - "../my-plugins/faulty.ts"\n')
      .replace(/^models:\n/m, `${section}models:\n`),
  );
  const path = join(workspace.pipelinesFolder, "chat.yaml");
  const chatPipeline = readFileSync(path, "utf8");
  writeFileSync(
    path,
    chatPipeline.replace(/^( +- )guardrails\b.*$/m, "$1{ use: guardrails, with: {} }\n$1twice"),
  );
  return workspace;
}

beforeAll(async () => {
  upstream = await createUpstream();
  const worker = "use: faulty, isolation: worker";
  const workspace = isolatedWorkspace(upstream.baseUrl, [
    `isolated: { ${worker}, secret: "\${env:GUARD_SECRET}" }`,
    `short: { ${worker}, budget_ms: 2000, worker_heap: 32mb }`,
    `silent: { ${worker}, budget_ms: 2000 }`,
    `looping: { ${worker}, budget_ms: 2000 }`,
    `lenient: { ${worker}, budget_ms: 2000, on_error: skip }`,
    `small: { ${worker}, budget_ms: 20000, worker_heap: 24mb, worker_threads: 1 }`,
    `patient: { ${worker}, budget_ms: 1500, on_error: skip }`,
    "inline: { use: faulty, budget_ms: 50 }",
  ]);
  gateway = await startGateway(workspace, { GUARD_SECRET: SECRET }, "info");
});
afterEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const ask = (guardrail: string, content: string, more: object = {}): Promise<Response> =>
  chat(gateway, {
    model: "gpt-4o-mini",
    messages: [{ role: "user", content }],
    guardrails: [guardrail],
    ...more,
  });

describe("a guardrail in threads of its own", () => {
  it("runs there, with its options and secrets, and its verdicts arrive", async () => {
    expect((await ask("isolated", "please deny me")).status).toBe(400);
    expect((await ask("isolated", "fine")).status).toBe(200);
    expect((await ask("isolated", "fine", { user: "mallory" })).status).toBe(400);
    upstream.reset();
    expect((await ask("isolated", "TROUBLE:where")).status).toBe(200);
    expect(upstream.requests[0]!.body).toContain(`TROUBLE:false/${SECRET}`);
    const log = gateway.stdout + gateway.stderr;
    expect(log).toMatch(/"main":false.*a line of its own|a line of its own.*"main":false/);
    expect(log).not.toContain(SECRET);
  });

  it("judges streams in windows", async () => {
    upstream.script({ kind: "reply", text: `${"harmless words ".repeat(20)} deny me` });
    const text = await (await ask("isolated", "fine", { stream: true })).text();
    expect(text).toContain("guardrail_violation");
    expect(text).not.toContain("deny me");
  });

  it.each(["throw", "exit", "mutate", "invalid"])(
    "that does this fails its own request, is named in the log, and judges the next one: %s",
    async (how) => {
      const response = await ask("short", `TROUBLE:${how} with words of the client`);
      expect(await response.json()).toMatchObject({ error: { code: 500, param: "short" } });
      expect(upstream.requests).toHaveLength(0);
      expect(gateway.stderr + gateway.stdout).toContain('"guardrail":"short"');
      expect(gateway.stderr + gateway.stdout).not.toContain("words of the client");
      expect((await ask("short", "fine")).status).toBe(200);
    },
  );

  it("that hangs or loops fails its own request in time, is named in the log, and judges the next one", async () => {
    const cases = { silent: "hang", looping: "loop" };
    const answers = await Promise.all(
      Object.entries(cases).map(([guardrail, how]) => ask(guardrail, `TROUBLE:${how} with words`)),
    );
    for (const [index, guardrail] of Object.keys(cases).entries())
      expect(await answers[index]?.json()).toMatchObject({
        error: { code: 500, param: guardrail },
      });
    expect(upstream.requests).toHaveLength(0);
    const log = gateway.stderr + gateway.stdout;
    for (const guardrail of Object.keys(cases)) {
      expect(log).toContain(`"guardrail":"${guardrail}"`);
      expect((await ask(guardrail, "fine")).status).toBe(200);
    }
    expect(log).not.toContain("with words");
  });

  it("that changes what is frozen fails", async () => {
    expect(await (await ask("short", "fine", { user: "mutant" })).json()).toMatchObject({
      error: { code: 500, param: "short" },
    });
  });

  it("that leaks is ended at its bound, and begins anew", async () => {
    expect((await ask("small", "TROUBLE:leak")).status).toBe(500);
    expect((await ask("small", "please deny me")).status).toBe(400);
    expect(gateway.stderr + gateway.stdout).toContain("OutOfMemory");
  });

  it("is skipped where its policy says so", async () => {
    expect((await ask("lenient", "TROUBLE:loop")).status).toBe(200);
  });

  it("that blocks for 300 ms, or for ever, delays no other request", async () => {
    const slow = [
      ask("isolated", "TROUBLE:busy"),
      ask("patient", "TROUBLE:loop"),
      ask("isolated", "TROUBLE:busy"),
    ];
    let done = 0;
    const all = Promise.all(slow).then((responses) => {
      done = responses.length;
      return responses;
    });
    // Five requests one after the other, before the last of the slow ones.
    for (let count = 0; count < 5; count++) {
      expect(
        (await chat(gateway, { model: "gpt-4o-mini", messages: [{ role: "user", content: "hi" }] }))
          .status,
      ).toBe(200);
    }
    expect(done).toBe(0);
    expect((await all).map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});

describe("a plugin in the gateway's own thread that misbehaves", () => {
  it.each(["throw", "hang", "mutate"])("fails its own request and is named: %s", async (how) => {
    const bystander = chat(gateway, {
      model: "gpt-4o-mini",
      messages: [{ role: "user", content: "hi" }],
    });
    expect(await (await ask("inline", `TROUBLE:${how}`)).json()).toMatchObject({
      error: { code: 500, param: "inline" },
    });
    expect((await bystander).status).toBe(200);
    expect(gateway.stderr + gateway.stdout).toContain('"guardrail":"inline"');
  });

  it("blocks the loop for 300 ms: answered, and named for it", async () => {
    const bystander = chat(gateway, {
      model: "gpt-4o-mini",
      messages: [{ role: "user", content: "hi" }],
    });
    expect((await ask("inline", "TROUBLE:busy")).status).toBe(200);
    expect((await bystander).status).toBe(200);
    expect(gateway.stderr + gateway.stdout).toMatch(/"guardrail":"inline".*held the event loop/);
  });

  it("calls next() twice: the request fails, the step is named, others are served", async () => {
    const response = await ask("isolated", "fine", { user: "twice" });
    expect(await response.json()).toMatchObject({
      error: { code: 500, message: expect.stringContaining("twice") as string },
    });
    expect(gateway.stderr + gateway.stdout).toContain(
      "Step twice called next() a second time and is not re-entrant",
    );
    expect((await ask("isolated", "fine")).status).toBe(200);
  });
});

it("a guardrail that needs more than a log and a clock is refused in a worker, with the place", async () => {
  const workspace = isolatedWorkspace(upstream.baseUrl, [
    "greedy: { use: faulty, isolation: worker, wants: state }",
  ]);
  const command = runCommand(
    ["serve", "--config", workspace.configPath, "--log-level", "error"],
    workspace.folder,
  );
  const { code } = await command.ended;
  workspace.remove();
  expect(code).not.toBe(0);
  expect(command.stdout + command.stderr).toMatch(
    /gateway\.yaml:\d+:3 +The guardrail greedy needs `host\.state`, which a worker does not have\. +Write `isolation: inline`/,
  );
});
