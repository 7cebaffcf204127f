/** Tag routing: which target a request has by its tags, its key's and its team's. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({
    baseUrl: upstream.baseUrl,
    plugins: ["@sluice/compat-litellm"],
    models: [
      "{ id: routed, targets: [{ provider: openai, model: gpt-4o, tags: [paid, eu] }, { provider: openai, model: gpt-4o-mini, tags: [free, default] }] }",
      "{ id: closed, tags: [paid], targets: [{ provider: openai, model: gpt-4.1 }] }",
      "{ id: strict, match_tags: all, targets: [{ provider: openai, model: gpt-4o, tags: [paid, eu] }, { provider: openai, model: gpt-4.1-mini, tags: [paid] }] }",
      "{ id: first, targets: [{ provider: openai, model: o3 }], fallbacks: { general: [closed] } }",
    ],
  });
}, 60_000);
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

interface Sent {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

/** The status, and the model that the upstream was asked for. */
async function ask(body: object, { path, headers, key }: Sent = {}): Promise<unknown[]> {
  const before = upstream.requests.length;
  const answer = await fetch(`${gateway.publicUrl}${path ?? "/v1/chat/completions"}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key ?? gateway.masterKey}`,
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify({ messages: MESSAGES, ...body }),
  });
  await answer.text();
  const models = upstream.requests
    .slice(before)
    .map(({ body: sent }) => (JSON.parse(sent.toString()) as { model: string }).model);
  return [answer.status, ...models];
}

const PAID = [200, "gpt-4o"];
const FREE = [200, "gpt-4o-mini"];

describe("a request's tags choose the targets", () => {
  it.each([
    ["none", {}, {}, FREE],
    ["tags", { tags: ["eu"] }, {}, PAID],
    ["metadata.tags", { metadata: { tags: ["paid"] } }, {}, PAID],
    ["litellm_metadata.tags", { litellm_metadata: { tags: ["paid"] } }, {}, PAID],
    ["x-sluice-tags", {}, { "x-sluice-tags": "other, paid" }, PAID],
    ["x-litellm-tags", {}, { "x-litellm-tags": "paid" }, PAID],
    ["free", { tags: ["free"] }, {}, FREE],
    ["another tag", { tags: ["elsewhere"] }, {}, FREE],
    ["another case", { tags: ["PAID"] }, {}, FREE],
  ])("%s", async (_name, body, headers, expected) => {
    expect(await ask({ model: "routed", ...body }, { headers })).toEqual(expected);
  });

  it("and a model without one of them is as one that does not exist", async () => {
    expect(await ask({ model: "closed", tags: ["elsewhere"] })).toEqual([404]);
    expect(await ask({ model: "closed", tags: ["paid"] })).toEqual([200, "gpt-4.1"]);
    expect(await ask({ model: "closed" })).toEqual([200, "gpt-4.1"]);
  });

  it("and all of them must be the target's with match_tags: all", async () => {
    expect(await ask({ model: "strict", tags: ["eu", "paid"] })).toEqual([200, "gpt-4o"]);
    expect(await ask({ model: "strict", tags: ["eu", "other"] })).toEqual([404]);
  });

  it.each([
    ["/v1/messages", { max_tokens: 9 }],
    ["/v1/responses", { messages: undefined, input: "Hello." }],
    [
      "/v1beta/models/routed:generateContent",
      { messages: undefined, contents: [{ parts: [{ text: "Hello." }] }] },
    ],
  ])("on the face %s", async (path, body) => {
    const headers = { "x-sluice-tags": "paid" };
    const named = path.includes("routed") ? body : { model: "routed", ...body };
    expect((await ask(named, { path, headers }))[1]).toBe("gpt-4o");
    expect((await ask(named, { path }))[1]).toBe("gpt-4o-mini");
  });

  it("on native paths, also of tools", async () => {
    const path = "/openai/v1/chat/completions";
    expect(
      await ask({ model: "gpt-4.1" }, { path, headers: { "x-sluice-tags": "elsewhere" } }),
    ).toEqual([404]);
    expect(await ask({ model: "gpt-4.1" }, { path, headers: { "x-sluice-tags": "paid" } })).toEqual(
      [200, "gpt-4.1"],
    );
    expect(await ask({ model: "o3" }, { path, headers: { "x-sluice-tags": "elsewhere" } })).toEqual(
      [200, "o3"],
    );
    const tools = [{ type: "image_generation", model: "gpt-4.1" }];
    const body = { model: "o3", tools };
    expect(await ask(body, { path, headers: { "x-sluice-tags": "elsewhere" } })).toEqual([403]);
  });
});

describe("tags of records", () => {
  it("of a key and of its team count, and no other key may name them", async () => {
    await admin(gateway, "/team/new", { team_id: "payers", tags: ["paid"] });
    const { key: payer } = await createKey(gateway, { team_id: "payers" });
    const { key: other } = await createKey(gateway, {});
    const { key: marked } = await createKey(gateway, { tags: ["project:x"] });
    expect(await ask({ model: "routed" }, { key: payer })).toEqual(PAID);
    expect(await ask({ model: "routed" }, { key: other })).toEqual(FREE);
    expect(await ask({ model: "routed", tags: ["paid"] }, { key: other })).toEqual([403]);
    expect(await ask({ model: "closed" }, { key: marked })).toEqual([404]);
    const list = async (key: string): Promise<string> =>
      (
        await fetch(`${gateway.publicUrl}/v1/models`, {
          headers: { authorization: `Bearer ${key}` },
        })
      ).text();
    expect(await list(payer)).toContain('"closed"');
    expect(await list(marked)).not.toContain('"closed"');
  });

  it("of a pooled budget do not count", async () => {
    await admin(gateway, "/budget/new", { budget_id: "pool", max_budget: 5 });
    const { key } = await createKey(gateway, { budget_id: "pool", budget_share: "pool" });
    expect((await ask({ model: "closed" }, { key }))[0]).toBe(200);
  });
});

describe("an explanation", () => {
  it("names the target that was left out", async () => {
    const answer = await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "routed", messages: MESSAGES }),
    });
    await answer.text();
    const shown = await admin(gateway, `/requests/${answer.headers.get("x-request-id")}`);
    const text = await shown.text();
    expect(text).toContain("left out by tags");
    expect(text).toContain("openai/gpt-4o");
  });
});
