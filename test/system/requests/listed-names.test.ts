/** The list of models has the names that a key's requests may have: its aliases and its team's too. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({
    baseUrl: upstream.baseUrl,
    models: ["gpt-4o", "gpt-4o-mini", "gpt-4.1"].map(
      (id) => `{ id: ${id}, access_groups: [all], targets: [{ provider: openai, model: ${id} }] }`,
    ),
  });
}, 60_000);
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

it.each([
  ["/v1/models", "data", "id", ""],
  ["/v1beta/models", "models", "name", "models/"],
] as const)(
  "%s lists what the key can call, and nothing else",
  async (path, list, name, prefix) => {
    const team_id = `aliased-${list}`;
    const model_aliases = {
      fast: "gpt-4o-mini",
      "gpt-4.1": "gpt-4o",
      gone: "nothing",
      "gpt-4o": "closed",
    };
    const made = await admin(gateway, "/team/new", { team_id, model_aliases, models: ["all"] });
    expect(made.status).toBe(200);
    const own = { fast: "gpt-4o", mine: "gpt-4o-mini", shut: "closed" };
    const { key } = await createKey(gateway, { team_id, model_aliases: own });
    const headers = { authorization: `Bearer ${key}` };
    const get = (one: string) => fetch(`${gateway.publicUrl}${one}`, { headers });
    const shown = (await (await get(path)).json()) as Record<string, Record<string, string>[]>;
    const names = shown[list]?.map((item) => String(item[name]).slice(prefix.length));
    expect(names?.toSorted()).toEqual(["fast", "gpt-4.1", "gpt-4o-mini", "mine"]);
    for (const model of [...(names ?? []), "gone", "gpt-4o", "shut"]) {
      const isListed = names?.includes(model) === true;
      const called = await chat(gateway, { model, messages: MESSAGES }, { headers });
      expect([model, called.status]).toEqual([model, isListed ? 200 : 404]);
      const one = await get(`${path}/${model}`);
      expect([model, one.status]).toEqual([model, isListed ? 200 : 404]);
    }
  },
);

it("a key's names hold for fallbacks, for deployments of a path and for prices", async () => {
  const model_aliases = {
    fast: "gpt-4o",
    spare: "gpt-4o-mini",
    "gpt-4.1": "gpt-4o-mini",
    "openai/gpt-4.1": "gpt-4o",
  };
  const { key } = await createKey(gateway, { model_aliases });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const tooLong = { kind: "error", status: 400, code: "context_length_exceeded" } as const;
  /** The models that the upstream was asked for; `gpt-4o` fails. */
  const asked = async (body: object, path = "/v1/chat/completions"): Promise<unknown> => {
    upstream.reset();
    const isTooLong = "context_window_fallback_dict" in body;
    upstream.script("gpt-4o", isTooLong ? tooLong : { kind: "error", status: 500 });
    const response = await fetch(`${gateway.publicUrl}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify({ messages: MESSAGES, num_retries: 0, ...body }),
    });
    await response.text();
    return upstream.requests.map(({ parsed }) => parsed?.["model"]);
  };
  const both = ["gpt-4o", "gpt-4o-mini"];
  expect(await asked({ model: "fast", fallbacks: ["spare"] })).toEqual(both);
  expect(await asked({ model: "fast", fallbacks: [{ model: "gpt-4.1", seed: 1 }] })).toEqual(both);
  const larger = { context_window_fallback_dict: { fast: "spare" } };
  expect(await asked({ model: "fast", ...larger })).toEqual(both);
  expect(await asked({}, "/openai/deployments/gpt-4.1/chat/completions")).toEqual(["gpt-4o-mini"]);
  const costOf = async (model: string): Promise<unknown> => {
    const response = await fetch(`${gateway.publicUrl}/spend/calculate`, {
      method: "POST",
      headers,
      body: JSON.stringify({ model, messages: MESSAGES }),
    });
    return [response.status, ((await response.json()) as { readonly model: string }).model];
  };
  expect(await costOf("fast")).toEqual([200, "gpt-4o"]);
  expect(await costOf("gpt-4.1")).toEqual([200, "gpt-4o-mini"]);
});
