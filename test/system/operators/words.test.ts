/**
 * One word for each option, aliases of keys, modes of models, and 404s that name the right address
 * (journeys A1, A4, A6, C7; clients 3).
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MESSAGES } from "../support/client.ts";
import { type CommandHost, startCommandHost } from "../support/command-host.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let gateway: GatewayProcess;
let host: CommandHost;

beforeAll(async () => {
  host = startCommandHost();
  gateway = await startGateway({
    models: [
      "{ id: echo, targets: [{ provider: echo, model: echo }] }",
      "{ id: embed, mode: embeddings, targets: [{ provider: echo, model: echo }] }",
      "{ id: draw, mode: image, targets: [{ provider: echo, model: echo }] }",
    ],
  });
});
afterAll(async () => {
  host?.close();
  await gateway?.dispose();
});

function sluice(...args: readonly string[]) {
  const port = { SLUICE_ADMIN_PORT: new URL(gateway.adminUrl).port };
  return host.run([...args, "--config", gateway.configPath], gateway.workspace.folder, port);
}

async function post(path: string, body: object, key = gateway.masterKey, url = gateway.publicUrl) {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    body: (await response.json()) as { error?: { message: string; param: string | null } },
  };
}

describe("keys", () => {
  it("take the documented words and the others, on the command line and by the API, and the list shows limits", async () => {
    const one = await sluice(
      "keys",
      "create",
      "--alias",
      "one",
      "--rpm",
      "5",
      "--max-parallel-requests",
      "2",
      "--max-budget",
      "3",
    );
    expect([one.code, one.error]).toEqual([0, ""]);
    const two = await sluice(
      "keys",
      "create",
      "--alias",
      "two",
      "--rpm-limit",
      "6",
      "--tpm-limit",
      "7",
      "--max-parallel",
      "2",
    );
    expect([two.code, two.error]).toEqual([0, ""]);
    const { out } = await sluice("keys", "list");
    expect(out).toMatch(/^ID +ALIAS +KEY +USER +TEAM +MODELS +LIMITS +EXPIRES +STATE\n/);
    expect(out).toMatch(/ one .* 5 rpm, 2 parallel, 3 USD/);
    expect(out).toMatch(/ two .* 6 rpm, 7 tpm, 2 parallel/);
    const admin = (path: string, body: object) =>
      post(path, body, gateway.masterKey, gateway.adminUrl);
    expect((await admin("/key/generate", { rpm: 1, tpm: 2 })).body).toMatchObject({
      rpm_limit: 1,
      tpm_limit: 2,
    });
    expect((await admin("/key/generate", { rpm: 1, rpm_limit: 1 })).body.error?.message).toContain(
      "set the same value",
    );
  });

  it("are named by their alias in every command", async () => {
    expect((await sluice("keys", "create", "--alias", "by-name")).code).toBe(0);
    expect((await sluice("keys", "info", "by-name")).out).toMatch(/^key_alias +by-name$/m);
    expect((await sluice("keys", "update", "by-name", "--rpm", "9")).out).toMatch(
      /^rpm_limit +9$/m,
    );
    for (const command of [
      ["block"],
      ["unblock"],
      ["rotate", "--grace-period", "10m"],
      ["rotate", "--grace", "1m"],
      ["revoke"],
    ]) {
      const [name = "", ...options] = command;
      const { code, error } = await sluice("keys", name, "by-name", ...options);
      expect([name, code, error]).toEqual([name, 0, ""]);
    }
    expect((await sluice("keys", "info", "by-name")).error).toContain(
      "No key has this id, alias or value",
    );
    expect((await sluice("keys", "create", "--team", "suport")).error).toContain(
      "sluice teams create",
    );
  });
});

describe("a model's mode", () => {
  it("is held against the route", async () => {
    const chat = await post("/v1/chat/completions", { model: "embed", messages: MESSAGES });
    expect([chat.status, chat.body.error?.param]).toEqual([400, "model"]);
    expect(chat.body.error?.message).toBe(
      'The model "embed" is for embeddings: send the request to POST /v1/embeddings.',
    );
    expect((await post("/v1/embeddings", { model: "embed", input: "a" })).status).toBe(200);
    expect(
      (await post("/v1/embeddings", { model: "draw", input: "a" })).body.error?.message,
    ).toContain("/v1/images/generations");
  });

  it("tells nothing of a model that the key may not use", async () => {
    const made = await post(
      "/key/generate",
      { models: ["echo"] },
      gateway.masterKey,
      gateway.adminUrl,
    );
    const { key } = made.body as { key: string };
    const refused = await post("/v1/chat/completions", { model: "embed", messages: MESSAGES }, key);
    expect(refused.status).toBe(404);
    expect(refused.body.error?.message).not.toContain("embeddings");
  });
});

describe("a path that does not exist", () => {
  it("names the address that serves it, and no provider to a client without a key", async () => {
    const named = await post("/v1/moderations", { model: "echo", input: "a" });
    expect(named.status).toBe(404);
    expect(named.body.error?.message).toContain("/openai/v1/moderations");
    expect((await post("/key/block", {})).body.error?.message).toContain("admin listener");
    rmSync(join(gateway.workspace.pipelinesFolder, "model-info.yaml"));
    const gone = await eventually("the edit", async () => {
      const answer = await fetch(`${gateway.publicUrl}/model/info`, {
        headers: { authorization: `Bearer ${gateway.masterKey}` },
      });
      return answer.status === 404 && answer.text();
    });
    expect(gone).toContain("pipelines/model-info.yaml");
    const unknown = await post("/v1/moderations", {}, "sk-unknown");
    expect(unknown.status).toBe(401);
    expect(JSON.stringify(unknown.body)).not.toContain("openai");
  });
});
