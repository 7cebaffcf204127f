/**
 * `GET /requests`, `sluice requests` and `sluice explain` (journeys C4): what the ledger and the
 * process know, in one list.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, createKey, MESSAGES } from "../support/client.ts";
import { type CommandHost, startCommandHost } from "../support/command-host.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

interface Page {
  readonly requests: readonly {
    readonly request_id: string;
    readonly status: number | null;
    readonly error: string | null;
    readonly source: string;
    readonly key: { readonly alias: string | null };
  }[];
  readonly next_cursor: string | null;
}

let gateway: GatewayProcess;
let host: CommandHost;
const ids: string[] = [];

beforeAll(async () => {
  ids.length = 0;
  host = startCommandHost();
  gateway = await startGateway(createWorkspace());
  const { key } = await createKey(gateway, { key_alias: "app", models: ["echo"] });
  const bearers = [gateway.masterKey, key, key, key, "sk-unknown"];
  const models = ["echo", "echo", "gpt-4o-mini", "echo", "echo"];
  for (const [index, bearer] of bearers.entries()) {
    const response = await chat(
      gateway,
      { model: models[index], messages: MESSAGES },
      { headers: { authorization: `Bearer ${bearer}` } },
    );
    await response.text();
    ids.unshift(response.headers.get("x-request-id") ?? "");
  }
  await eventually("all rows", async () => {
    const answer = await admin(gateway, "/requests");
    return answer.ok && ((await answer.json()) as Page).requests.length === ids.length;
  });
});
afterAll(async () => {
  host?.close();
  await gateway?.dispose();
});

async function list(query = ""): Promise<Page> {
  return (await (await admin(gateway, `/requests${query}`)).json()) as Page;
}

describe("GET /requests", () => {
  it("lists requests newest first, those without an upstream call too", async () => {
    const { requests, next_cursor: next } = await list();
    expect(requests.map((one) => one.request_id)).toEqual(ids);
    expect(requests.map((one) => one.status)).toEqual([401, 200, 404, 200, 200]);
    expect(next).toBeNull();
  });

  it("goes on behind a cursor, without a gap and without a repeat", async () => {
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await list(`?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`);
      seen.push(...page.requests.map((one) => one.request_id));
      cursor = page.next_cursor ?? "";
    } while (cursor !== "");
    expect(seen).toEqual(ids);
  });

  it("filters by status, model, key and time", async () => {
    const found = async (query: string) =>
      (await list(query)).requests.map((one) => ids.indexOf(one.request_id));
    expect(await found("?status=failed")).toEqual([0, 2]);
    expect(await found("?status=404")).toEqual([2]);
    expect(await found("?status=ok&model=echo")).toEqual([1, 3, 4]);
    expect(await found("?key=app")).toEqual([1, 2, 3]);
    expect(await found("?since=1h")).toEqual([0, 1, 2, 3, 4]);
    expect(await found("?since=2090-01-01T00:00:00Z")).toEqual([]);
    expect((await admin(gateway, "/requests?since=soon")).status).toBe(400);
    expect((await admin(gateway, "/requests?limit=101")).status).toBe(400);
    expect((await admin(gateway, "/requests?cursor=x")).status).toBe(400);
  });
});

describe("on the command line", () => {
  const run = (...args: string[]) =>
    host.run(
      [...args, "--config", gateway.configPath, "--admin-url", gateway.adminUrl],
      gateway.workspace.folder,
    );

  it("sluice requests prints the list, and sluice explain one request", async () => {
    const listed = await run("requests", "--status", "404");
    expect(listed.out).toMatch(
      new RegExp(`^${ids[2]} +\\S+ +404 +model_not_found +gpt-4o-mini`, "m"),
    );
    const explained = await run("explain", ids[1] ?? "");
    expect(explained.out).toMatch(/^STEP +AT +OUTCOME/m);
    expect(explained.out).toMatch(/^1 +echo\/echo +success/m);
    expect((await run("explain", "absent")).code).toBe(1);
  });
});
