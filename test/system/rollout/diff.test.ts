/**
 * `sluice diff`: effects of an edit, of generations and of folders, and a replay of the traffic
 * that was seen.
 */

import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, configStatus, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({ baseUrl: upstream.baseUrl });
});

afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function diff(...args: readonly string[]) {
  const command = runCommand(
    ["diff", ...args, "--config", gateway.configPath, "--admin-url", gateway.adminUrl],
    gateway.workspace.folder,
  );
  const { code } = await command.ended;
  return { code, lines: command.stdout.trimEnd().split("\n"), stderr: command.stderr };
}

describe("sluice diff", () => {
  it("tells what an edit means before and after it is made, and what it does to the traffic that was seen", async () => {
    expect(await diff()).toEqual({ code: 0, lines: ["no effect"], stderr: "" });
    let cost = 0;
    for (let count = 0; count < 3; count += 1) {
      const reply = await chat(gateway, { model: "gpt-4o", messages: MESSAGES });
      expect(reply.status).toBe(200);
      cost += Number(reply.headers.get("x-sluice-cost"));
      await reply.arrayBuffer();
    }
    expect(cost).toBeGreaterThan(0);
    await (await chat(gateway, { model: "echo", messages: MESSAGES, stream: true })).text();
    const { workspace } = gateway;
    const edited = workspace.config({
      baseUrl: upstream.baseUrl,
      models: [
        "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini, weight: 2 }] }",
        "{ id: gpt-4o, targets: [{ provider: echo, model: echo }], access_groups: [large] }",
        '{ id: "openai/*", targets: [{ provider: openai, model: "*" }] }',
        "{ id: echo-2, targets: [{ provider: echo, model: echo }] }",
      ],
    });
    const files = { [gateway.configPath]: edited };
    const asked = await admin(gateway, "/config/validate", { files, replay: true });
    expect(await asked.json()).toMatchObject({
      outcome: "applicable",
      risk: "danger",
      replay: {
        evaluated: 4,
        blocked: { count: 1 },
        provider: { count: 3 },
        spend: { requests: 4, would_cost: { least: 0, most: 0 }, unknown: 0 },
      },
    });

    workspace.write(edited);
    const reload = await admin(gateway, "/config/reload", {});
    expect(await reload.json()).toMatchObject({
      outcome: expect.stringMatching(/applied|unchanged/) as string,
    });
    const between = await diff("1", "2", "--replay", "--fail-on", "danger");
    const without = (line: string) => line.replace(/ {2}\(.*\)$/, "");
    expect(between.lines.map(without)).toEqual([
      "danger   model echo: is removed",
      "danger   model gpt-4o: is redirected from openai to echo",
      "caution  model echo-2: is added, at echo/echo; keys without a list of models may use it",
      "caution  model gpt-4o-mini: target openai/gpt-4o-mini, weight: 1 -> 2",
      "caution  model gpt-4o: loses the target openai/gpt-4o",
      "caution  model gpt-4o: gains the target echo/echo",
      "6 effects: 2 danger, 4 caution, 0 safe",
      "replay: 1 of 4 would now be blocked",
      "       1  there is no model echo",
      "replay: 3 of 4 change provider",
      "       3  gpt-4o: openai -> echo",
      `spend: 4 requests did cost ${Number(cost.toPrecision(4))} and would cost 0 US dollars (-100%)`,
    ]);
    expect(between.code).toBe(1);
    const history = (await (await admin(gateway, "/config/history")).json()) as {
      generations: { generation: number; risk: string; effects: { text: string }[] }[];
    };
    expect(history.generations[0]).toMatchObject({ generation: 2, risk: "danger" });
    expect(history.generations[0]?.effects[0]?.text).toBe("danger   model echo: is removed");
  });

  it("says of a dead address that no upstream was called (journeys C2)", async () => {
    const { workspace } = gateway;
    const { live } = await configStatus(gateway);
    const text = readFileSync(gateway.configPath, "utf8");
    workspace.write(text.replaceAll(upstream.baseUrl, "http://127.0.0.1:9/v1"));
    try {
      await admin(gateway, "/config/reload", {});
      const { lines } = await diff(String(live.generation), "files", "--replay");
      expect(lines.find((line) => line.startsWith("replay:"))).toMatch(
        /^replay: (\d+) of \1 are let in and routed as before; no upstream was called, so one that does not answer is not found$/,
      );
    } finally {
      workspace.write(text);
      await admin(gateway, "/config/reload", {});
    }
  });

  it("compares folders without a gateway, and says what it cannot compare", async () => {
    const other = createWorkspace();
    try {
      cpSync(gateway.configPath, other.configPath);
      const chatFile = join(other.pipelinesFolder, "chat.yaml");
      writeFileSync(chatFile, readFileSync(chatFile, "utf8").replace(/^ +- guardrails.*\n/m, ""));
      const { lines, code } = await diff("files", other.folder, "--json");
      expect(code).toBe(0);
      const answer = JSON.parse(lines.join("\n")) as {
        risk: string;
        effects: { about: string; message: string }[];
      };
      expect(answer.risk).toBe("danger");
      expect(answer.effects[0]?.message).toBe("loses the step guardrails");
      expect((await diff("7", "files")).stderr).toContain("Generation 7 is not in the history");
      expect((await diff("1", other.folder)).code).toBe(2);
      expect((await diff("nowhere")).code).toBe(2);
    } finally {
      other.remove();
    }
  });
});
