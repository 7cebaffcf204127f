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
