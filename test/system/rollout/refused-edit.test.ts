/**
 * Edits that are refused change nothing and are explained; edits that take something away let what
 * runs finish.
 */

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, configStatus, MESSAGES, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, DEFAULT_MODELS, type Workspace } from "../support/workspace.ts";

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;
let good: string;

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace({ baseUrl: upstream.baseUrl });
  good = readFileSync(workspace.configPath, "utf8");
  gateway = await startGateway(workspace);
});
beforeEach(async () => {
  upstream.reset();
  workspace.write(good);
  await attempted("unchanged", "applied");
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/** Sends SIGHUP and waits for an attempt that ended as one of `outcomes`. */
async function attempted(...outcomes: string[]) {
  gateway.signal("SIGHUP");
  return eventually(`an attempt that is ${outcomes.join(" or ")}`, async () => {
    const status = await configStatus(gateway);
    return status.last_attempt !== null && outcomes.includes(status.last_attempt.outcome) && status;
  });
}

const lineOf = (text: string, part: string): number =>
  text.slice(0, text.indexOf(part)).split("\n").length;

describe("a gateway file that is wrong changes nothing and is explained with file, line and column", () => {
  const broken: Record<
    string,
    (text: string) => [text: string, at: { line: number; column: number } | undefined, said: RegExp]
  > = {
    "a bracket that is not closed": (text) => {
      const wrong = text.replace(
        "targets: [{ provider: echo, model: echo }] }",
        "targets: [{ provider: echo",
      );
      return [wrong, undefined, /\S/];
    },
    "an unknown key": (text) => {
      const wrong = text.replace("store:", "stores:");
      return [wrong, { line: lineOf(wrong, "stores:"), column: 1 }, /stores/];
    },
    "an unknown key inside a provider": (text) => {
      const wrong = text.replace("base_url:", "base_ur1:");
      const line = lineOf(wrong, "base_ur1:");
      return [
        wrong,
        { line, column: (wrong.split("\n")[line - 1] ?? "").indexOf("base_ur1:") + 1 },
        /base_ur1.*base_url/,
      ];
    },
    "a file that is half written": (text) => [
      text.slice(0, text.indexOf("models:")),
      undefined,
      /models/,
    ],
    "an empty file": () => ["", undefined, /\S/],
    "a setting that needs a restart": (text) => [
      text.replace("server: {", "server: { max_body: 3mb,"),
      undefined,
      /server/,
    ],
  };

  it.each(Object.keys(broken))("%s", async (name) => {
    const { live } = await configStatus(gateway);
    const [text, at, said] = broken[name]?.(good) ?? ["", undefined, /./];
    workspace.write(text, "in place");
    const status = await attempted("refused");
    expect(status.live).toMatchObject(live);
    const [finding] = status.last_attempt.findings;
    expect(finding).toMatchObject({ file: expect.stringMatching(/gateway\.yaml$/), ...at });
    expect(finding?.line).toBeGreaterThanOrEqual(1);
    expect(finding?.column).toBeGreaterThanOrEqual(1);
    expect(`${finding?.message} ${finding?.fix}`).toMatch(said);
    expect(finding?.text).toContain(`gateway.yaml:${finding?.line}:${finding?.column} `);
    const response = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
    expect([response.status, response.headers.get("x-sluice-generation")]).toEqual([
      200,
      String(live.generation),
    ]);
  });

  it("and is noticed without a signal, as is its repair", async () => {
    workspace.write("version: 2\n", "in place");
    const outcome = async () => (await configStatus(gateway)).last_attempt.outcome;
    await eventually("the edit to be refused", async () => (await outcome()) === "refused");
    workspace.write(good, "in place");
    await eventually("the repair to be read", async () => (await outcome()) === "unchanged");
    expect((await chat(gateway, { model: "echo", messages: MESSAGES })).status).toBe(200);
  });

  it("also when it is gone, or when a pipeline names a step that does not exist", async () => {
    rmSync(workspace.configPath);
    expect((await attempted("refused")).last_attempt.findings[0]?.file).toMatch(/gateway\.yaml$/);
    workspace.write(good);
    await attempted("unchanged");
    const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
    const steps = readFileSync(pipeline, "utf8");
    writeFileSync(pipeline, steps.replace("- cost", "- cots"));
    const { findings } = (await attempted("refused")).last_attempt;
    writeFileSync(pipeline, steps);
    expect(findings[0]).toMatchObject({
      file: expect.stringMatching(/chat\.yaml$/),
      line: lineOf(steps, "- cost"),
      column: 5,
    });
    expect((await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES })).status).toBe(200);
  });
});

describe("a model that is taken away", () => {
  it("finishes the streams in flight and is not found by new requests", async () => {
    upstream.script("gpt-4o", { kind: "reply", text: "word ".repeat(300), eventDelayMs: 10 });
    const response = await chat(gateway, { model: "gpt-4o", messages: MESSAGES, stream: true });
    const old = Number(response.headers.get("x-sluice-generation"));
    const models = DEFAULT_MODELS.filter((line) => !line.includes("id: gpt-4o,"));
    workspace.write(workspace.config({ baseUrl: upstream.baseUrl, models }));
    const status = await attempted("applied");
    expect(status.live.generation).toBeGreaterThan(old);
    expect(status.draining).toMatchObject([{ generation: old, leases: 1 }]);

    const late = await chat(gateway, { model: "gpt-4o", messages: MESSAGES });
    expect([late.status, late.headers.get("x-sluice-generation")]).toEqual([
      404,
      String(status.live.generation),
    ]);
    expect(upstream.requests[0]?.finished).toBe(false);

    const text = await response.text();
    expect(text.match(/"content":"word "/g)).toHaveLength(300);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    await eventually(
      "the old generation to close",
      async () => (await configStatus(gateway)).draining.length === 0,
    );
    expect(await rowsOf(gateway, response.headers.get("x-request-id"))).toMatchObject([
      { status: "success", generation: old },
    ]);
  });
});
