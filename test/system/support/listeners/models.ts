/** The list of models, the same for one process and for several workers. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { AdminAnswer } from "@sluice/admin-api";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, MESSAGES } from "../client.ts";
import { eventually } from "../eventually.ts";
import { type GatewayProcess, startGateway, startOwnProcess } from "../gateway-process.ts";
import { createWorkspace } from "../workspace.ts";

type Page = AdminAnswer<"GET /models">;

const MANY = 130;

/** The tests with a number of workers. Call it in a `describe`. */
export function modelListTests(workers: 1 | 2): void {
  const start = workers === 1 ? startGateway : startOwnProcess;
  let upstream: Upstream;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    upstream = await createUpstream();
    const workspace = createWorkspace({
      baseUrl: upstream.baseUrl,
      server: `workers: ${workers}`,
      providers: [
        `closed: { use: openai, api_key: "\${env:NOT_SET_ANYWHERE}", base_url: ${upstream.baseUrl} }`,
      ],
      models: [
        "{ id: pair, access_groups: [large], fallbacks: { general: [echo], rate_limit: [] }, targets: [{ provider: openai, model: gpt-4o, weight: 3, rpm: 600 }, { provider: closed, model: gpt-4o }] }",
        "{ id: agreed, targets: [{ provider: openai, model: own-model, price: { input: 1.5, output: 6 } }] }",
        "{ id: unknown-price, targets: [{ provider: openai, model: never-heard-of }] }",
        '{ id: "all/*", targets: [{ provider: openai, model: "*" }] }',
        "{ id: echo, targets: [{ provider: echo, model: echo }] }",
        ...Array.from(
          { length: MANY },
          (_, index) => `{ id: many-${index}, targets: [{ provider: echo, model: many }] }`,
        ),
      ],
      attempts: 1,
    });
    const prices = join(workspace.folder, "config/prices.yaml");
    const priced = "openai/gpt-4o: { input: 2, output: 8 }";
    writeFileSync(prices, readFileSync(prices, "utf8").replace("prices:", `prices:\n  ${priced}`));
    gateway = await start(workspace);
  }, 120_000);
  afterAll(async () => {
    await gateway?.dispose();
    await upstream?.close();
  });

  const read = async (query = ""): Promise<Page> => {
    const response = await admin(gateway, `/models${query}`);
    const text = await response.text();
    expect([query, response.status, text.length <= 64 * 1_024]).toEqual([query, 200, true]);
    return JSON.parse(text) as Page;
  };

  it("has targets, weights, limits, prices with their source, fallbacks and places", async () => {
    const { models } = await read();
    const [pair, agreed, unknown] = models;
    expect(pair).toMatchObject({
      model: "pair",
      mode: "chat",
      access_groups: ["large"],
      fallbacks: { general: ["echo"], rate_limit: [] },
      targets: [
        { deployment: "openai/gpt-4o", weight: 3, rpm: 600, missing: [] },
        { deployment: "closed/gpt-4o", weight: 1, rpm: null, missing: ["${env:NOT_SET_ANYWHERE}"] },
      ],
    });
    expect(pair?.targets[0]?.price).toMatchObject({ free: false, input: 2, output: 8 });
    expect(pair?.targets[0]?.price?.source).toMatch(/prices\.yaml$/);
    expect(agreed?.targets[0]?.price).toMatchObject({ input: 1.5, output: 6 });
    expect(agreed?.targets[0]?.price?.source).toMatch(/gateway\.yaml$/);
    expect(unknown?.targets[0]?.price).toBeNull();
    expect(models.find(({ model }) => model === "echo")?.targets[0]?.price?.free).toBe(true);
    const [, file = "", line] = /^(.*):(\d+)$/.exec(pair?.declared_in ?? "") ?? [];
    const text = readFileSync(join(gateway.workspace.folder, "config/gateway.yaml"), "utf8");
    expect([file.endsWith("gateway.yaml"), text.split("\n")[Number(line) - 1]]).toEqual([
      true,
      expect.stringContaining("id: pair"),
    ]);
  });

  it("shows the worst health that a process knows, that of a wildcard too", async () => {
    upstream.script("broken", { kind: "error", status: 401, message: "No such key." });
    const body = { model: "all/broken", messages: MESSAGES, max_tokens: 5 };
    const found = await eventually("the credential to be refused", async () => {
      await (await chat(gateway, body)).text();
      const { models } = await read("?search=all/");
      const health = models[0]?.targets[0]?.health;
      return health?.health === "healthy" ? undefined : health;
    });
    expect(found).toMatchObject({ health: "ejected", held_until: null });
  });

  it("is a list of pages that ends, and finds parts of names", async () => {
    const seen: string[] = [];
    for (let cursor = "", pages = 0; pages < 20; pages++) {
      const page = await read(`?limit=40${cursor === "" ? "" : `&cursor=${cursor}`}`);
      seen.push(...page.models.map(({ model }) => model));
      if (page.next_cursor === null) break;
      cursor = encodeURIComponent(page.next_cursor);
    }
    expect([seen.length, new Set(seen).size]).toEqual([MANY + 5, MANY + 5]);
    const named = await read("?search=NEVER-heard");
    expect(named.models.map(({ model }) => model)).toEqual(["unknown-price"]);
    for (const query of ["?cursor=nothing", "?limit=0", "?limit=101", "?what=1"])
      expect([query, (await admin(gateway, `/models${query}`)).status]).toEqual([query, 400]);
  });
}
