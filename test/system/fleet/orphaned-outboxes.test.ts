/** Gateways that are killed while PostgreSQL is away: their rows reach it without them. */

import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat, createKey, MESSAGES, spendRows } from "../support/client.ts";
import {
  commandAt,
  createFleet,
  type FleetMember,
  fleetOf,
  type TestFleet,
} from "../support/databases/fleet.ts";
import { eventually } from "../support/eventually.ts";
import { runCommand } from "../support/gateway-process.ts";
import { isServerThere } from "../support/postgres.ts";
import { createWorkspace } from "../support/workspace.ts";

const CALLS = 5;

let upstream: Upstream;
let fleet: TestFleet;
let members: FleetMember[];
let key: string;
let keyId: string;

const ask = async ({ gateway }: FleetMember): Promise<void> => {
  const headers = { authorization: `Bearer ${key}` };
  const response = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES }, { headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`a call was answered with ${text}`);
};
const rowsAt = async ({ gateway }: FleetMember): Promise<number> =>
  (await spendRows(gateway, { api_key: keyId, limit: "100" })).length;

async function recover(folder: string, at: FleetMember) {
  const words = ["ledger", "recover", folder, "--config", at.workspace.configPath];
  const command = runCommand(words, at.workspace.folder, at.environment);
  const { code } = await command.ended;
  return { code, stdout: command.stdout, stderr: command.stderr };
}

describe.skipIf(!isServerThere)("gateways killed while PostgreSQL is away", () => {
  beforeAll(async () => {
    upstream = await createUpstream();
    fleet = await createFleet({ baseUrl: upstream.baseUrl });
    const environment = { OPENAI_API_KEY: "sk-upstream" };
    const first = await fleet.add(environment);
    members = [first, ...(await Promise.all([fleet.add(environment), fleet.add(environment)]))];
    ({ key, token_id: keyId } = await createKey(members[0]!.gateway, {}));
    for (const member of members) await ask(member);
    await eventually("the rows of all", async () => (await rowsAt(members[0]!)) === 3);
    await fleet.database.setAway(true);
    for (const member of members.slice(1))
      for (let call = 0; call < CALLS; call += 1) await ask(member);
    for (const { gateway } of members.slice(1)) await gateway.kill();
    await fleet.database.setAway(false);
  });
  afterAll(async () => {
    await fleet?.dispose();
    await upstream?.close();
  });

  it("have their rows moved by a command, once, and not while a gateway uses the folder", async () => {
    const [first, second] = members as [FleetMember, FleetMember];
    await eventually("the store to answer", async () => (await fleetOf(first)).store_answers);
    const inUse = await recover(first.workspace.dataDirectory, first);
    expect(inUse).toMatchObject({ code: 1 });
    expect(inUse.stderr).toContain("in use by another gateway");
    const folder = second.workspace.dataDirectory;
    // A row that the store has may still be in its segment: the store leaves it out.
    const found = await recover(folder, first);
    expect(found).toMatchObject({ code: 0, stderr: "" });
    expect(found.stdout).toMatch(/^\d+ rows of .* are in the store/);
    expect(await rowsAt(first)).toBe(3 + CALLS);
    expect((await recover(folder, first)).stdout).toBe(`${folder} has no rows that wait.\n`);
    expect(await recover(second.workspace.folder, first)).toMatchObject({ code: 1 });
  });

  it("have no rows moved to the store of another fleet", async () => {
    const [first, , third] = members as [FleetMember, FleetMember, FleetMember];
    const other = createWorkspace();
    const command = runCommand(
      ["ledger", "recover", third.workspace.dataDirectory, "--config", other.configPath],
      other.folder,
      { OPENAI_API_KEY: "sk-upstream" },
    );
    expect((await command.ended).code).toBe(1);
    other.remove();
    expect(await rowsAt(first)).toBe(3 + CALLS);
  });

  it("have their rows moved by the leader that reaches their folder", async () => {
    const [first] = members as [FleetMember];
    // They are gone by the clock of the database.
    await fleet.database.query("update instance set seen_at_ms = seen_at_ms - 60000");
    const { stdout } = await commandAt(first, "status", "--fleet");
    expect(stdout).toContain("is gone: rows that it did not send are in its data folder");
    await first.gateway.stop();
    // The job ran a moment ago: the next leader runs it again.
    await fleet.database.query("update lease set notes = ''");
    const next = await fleet.add({ OPENAI_API_KEY: "sk-upstream" });
    await eventually("the rows of the third", async () => {
      return (await rowsAt(next)) === 3 + 2 * CALLS;
    });
    const folder = members[2]!.workspace.dataDirectory;
    expect((await recover(folder, next)).stdout).toBe(`${folder} has no rows that wait.\n`);
  });
});
