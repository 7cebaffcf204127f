/** What the admin listener says of the pipelines that serve: steps, figures, coverage, schemas. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AdminAnswer } from "@sluice/admin-api";
import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const SECRET = "a-value-of-the-environment-that-no-answer-shows";
const ENVIRONMENT = { DENIED_WORD: SECRET, CACHE_TTL: "11m" };

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;
let file: string;

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    sections: [
      "guardrails:",
      '  words: { use: words, lists: [{ name: denied, words: ["${env:DENIED_WORD}"] }] }',
    ],
  });
  file = join(workspace.pipelinesFolder, "chat.yaml");
  const text = readFileSync(file, "utf8")
    .replace(
      /^ {2}- guardrails.*$/m,
      "  - { use: guardrails, with: { input: [words] }, when: { stream: false } }",
    )
    .replace(
      /^ {2}- \{ use: cache.*$/m,
      '  - { use: cache, with: { ttl: "${env:CACHE_TTL}" }, mode: shadow }',
    );
  writeFileSync(file, text);
  gateway = await startGateway(workspace, ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

type Pipelines = AdminAnswer<"GET /pipelines">;

async function read<Answer>(path: string): Promise<Answer> {
  const answer = await admin(gateway, path);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Answer;
}

const chatPipeline = async () =>
  (await read<Pipelines>("/pipelines")).pipelines.find(({ pipeline }) => pipeline === "chat");

const lineOf = (part: string): number => {
  const text = readFileSync(file, "utf8");
  return text.slice(0, text.indexOf(part)).split("\n").length;
};

describe("the pipelines", () => {
  it("are the steps of the file, outermost first, each with its line", async () => {
    const found = await chatPipeline();
    expect(found?.steps.map(({ step }) => step)).toEqual([
      "auth",
      "responses",
      "cost",
      "limits",
      "idempotency",
      "guardrails",
      "cache",
      "fallback",
      "balance",
      "retry",
      "provider",
    ]);
    expect(found?.steps.find(({ step }) => step === "guardrails")).toMatchObject({
      file: "pipelines/chat.yaml",
      line: lineOf("- { use: guardrails"),
      options: { input: ["words"] },
      when: { stream: false },
      mode: "enforce",
      shadow: null,
    });
    expect(found?.routes[0]).toMatchObject({
      route: "POST /v1/chat/completions",
      line: lineOf("- POST /v1/chat/completions"),
    });
    expect(found?.tests.length).toBeGreaterThan(3);
  });

  it("have the times and refusals of the requests that are kept, at the step that refused", async () => {
    const ask = (content: string) =>
      chat(gateway, { model: "gpt-4o-mini", messages: [{ role: "user", content }] });
    expect((await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES })).status).toBe(200);
    expect((await ask(`Say ${SECRET}.`)).status).toBe(400);
    const { steps = [] } = (await chatPipeline()) ?? {};
    const figures = Object.fromEntries(steps.map((step) => [step.step, step.figures]));
    expect(figures["auth"]).toMatchObject({ requests: 2, refused: 0, failed: 0 });
    expect(figures["auth"]?.p50_ms).toEqual(expect.any(Number));
    expect(figures["guardrails"]).toMatchObject({ requests: 2, refused: 1 });
    expect(figures["provider"]).toMatchObject({ requests: 1, refused: 0 });
    expect(steps.find(({ step }) => step === "cache")).toMatchObject({
      mode: "shadow",
      shadow: { runs: 1 },
    });
  });

  it("show references as they are written", async () => {
    const steps = (await chatPipeline())?.steps ?? [];
    expect(steps.find(({ step }) => step === "cache")?.options).toEqual({
      ttl: "${env:CACHE_TTL}",
    });
  });
});

describe("the coverage", () => {
  it("is what the command prints", async () => {
    const { routes } = await read<AdminAnswer<"GET /config/coverage">>("/config/coverage");
    const command = runCommand(
      ["check", "--coverage", "--json", "--config", workspace.configPath],
      workspace.folder,
      ENVIRONMENT,
    );
    expect(await command.ended).toMatchObject({ code: 0 });
    expect(routes).toEqual(JSON.parse(command.stdout));
    expect(routes.find(({ route }) => route === "POST /v1/chat/completions")).toMatchObject({
      auth: true,
      budget: true,
      guardrails_in: ["words (when stream=false)"],
    });
  });
});

describe("the schemas", () => {
  it("are those that sluice schema writes", async () => {
    const schemas = await read<AdminAnswer<"GET /config/schema">>("/config/schema");
    const command = runCommand(
      ["schema", "--config", workspace.configPath, "--out", "schema"],
      workspace.folder,
      ENVIRONMENT,
    );
    expect(await command.ended).toMatchObject({ code: 0 });
    for (const name of ["gateway", "pipeline", "prices"] as const) {
      const path = join(workspace.folder, "schema", `${name}.schema.json`);
      expect(schemas[name]).toEqual(JSON.parse(readFileSync(path, "utf8")));
    }
  });
});
