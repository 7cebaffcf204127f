/**
 * Budgets of single models at native routes, after a start: the spend that the ledger has counts,
 * by whatever name a limit has the model.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { createDatabase, isServerThere, type TestDatabase } from "../support/postgres.ts";
import { createWorkspace } from "../support/workspace.ts";

const PRICE = "price: { input: 0, output: 0, request: 0.01 }";
/** Room for one call. */
const LIMIT = { max_budget: 0.015 };

/** Names of limits, and the upstream's model that each holds for. */
const LIMITED = [
  ["fast", "up-fast"],
  ["fa*", "up-fast"],
  ["some", "up-fast"],
  ["wild/other", "other"],
  ["wild/o*", "other"],
  ["wild/*", "other"],
  ["wi*", "other"],
  ["begins/x", "pre-x-post"],
  ["begins/x*", "pre-x-post"],
  ["bare/gpt-4o-mini", "bare:gpt-4o-mini"],
  ["bare/gpt-4*", "bare:gpt-4o-mini"],
  ["bare/*", "bare:gpt-4o-mini"],
  ["bar*", "bare:gpt-4o-mini"],
] as const;
/** Limits that hold for no call of these. */
const OTHERS = [
  ["wild/another", "other"],
  ["wild/others*", "other"],
  ["other", "other"],
  ["up-*", "up-fast"],
  ["bare/gpt-4o", "bare:gpt-4o-mini"],
  ["bare/gpt-5*", "bare:gpt-4o-mini"],
] as const;

let upstream: NativeUpstream;
beforeAll(async () => {
  upstream = await createNativeUpstream();
  const usage = { prompt_tokens: 900_000, completion_tokens: 1, total_tokens: 900_001 };
  upstream.reply(200, "application/json", JSON.stringify({ id: "c", choices: [], usage }));
});
afterAll(() => upstream?.close());

async function ask(gateway: GatewayProcess, key: string, named: string): Promise<number> {
  const [model, provider = "openai"] = named.split(":").toReversed();
  const response = await fetch(`${gateway.publicUrl}/${provider}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, max_tokens: 5, messages: [{ role: "user", content: "Hi." }] }),
  });
  await response.text();
  return response.status;
}

describe.each([
  { store: "sqlite", isThere: true },
  { store: "postgres", isThere: isServerThere },
])("on $store", ({ store, isThere }) => {
  let database: TestDatabase | undefined;
  let gateway: GatewayProcess;
  const statuses: Record<string, number[]> = {};

  beforeAll(async () => {
    if (!isThere) return;
    if (store !== "sqlite") database = await createDatabase();
    const workspace = createWorkspace({
      baseUrl: `${upstream.url}/v1`,
      providers: [
        `bare: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.url}/v1 }`,
      ],
      ...(database && { postgres: "" }),
      models: [
        `{ id: fast, targets: [{ provider: openai, model: up-fast, ${PRICE} }], access_groups: [some] }`,
        `{ id: "begins/*", targets: [{ provider: openai, model: "pre-*-post", ${PRICE} }] }`,
        `{ id: "wild/*", targets: [{ provider: openai, model: "*", ${PRICE} }] }`,
      ],
    });
    const environment = { DATABASE_URL: database?.url };
    gateway = await startGateway(workspace, environment);
    const keys = new Map<string, readonly [key: string, model: string]>();
    for (const [name, model] of [...LIMITED, ...OTHERS])
      // oxlint-disable-next-line no-await-in-loop -- a dozen.
      keys.set(name, [(await createKey(gateway, { per_model: { [name]: LIMIT } })).key, model]);
    for (const [name, [key, model]] of keys)
      // oxlint-disable-next-line no-await-in-loop -- a dozen.
      statuses[name] = [await ask(gateway, key, model)];
    await gateway.stop();
    gateway = await startGateway(workspace, environment);
    for (const [name, [key, model]] of keys)
      // oxlint-disable-next-line no-await-in-loop -- a dozen.
      statuses[name]?.push(await ask(gateway, key, model));
  }, 60_000);
  afterAll(async () => {
    await gateway?.dispose();
    await database?.drop();
  });

  it.skipIf(!isThere).each(LIMITED)("%s is reached by calls of %s", (name) => {
    expect(statuses[name]).toEqual([200, 429]);
  });

  it.skipIf(!isThere).each(OTHERS)("%s has nothing of calls of %s", (name) => {
    expect(statuses[name]).toEqual([200, 200]);
  });
});
