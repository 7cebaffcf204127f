/** Instances of a fleet know each other: by the store, and by nothing else. */

import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import {
  commandAt,
  createFleet,
  type FleetMember,
  fleetOf,
  type TestFleet,
} from "../support/databases/fleet.ts";
import { startOwnProcess } from "../support/gateway-process.ts";
import { isServerThere } from "../support/postgres.ts";
import { createWorkspace, DEFAULT_MODELS } from "../support/workspace.ts";

let fleet: TestFleet;
const at = (index: number) => (): FleetMember => {
  const member = fleet.members[index];
  if (member === undefined) throw new Error(`there is no member ${index}`);
  return member;
};
const [first, second, third] = [at(0), at(1), at(2)] as const;

describe.skipIf(!isServerThere)("instances on one PostgreSQL", () => {
  beforeAll(async () => {
    fleet = await createFleet();
    await fleet.add();
    await fleet.add({ PROVIDER_KEY: "another-value" });
    await fleet.add({}, (workspace) => workspace.write(fleet.text({ server: "workers: 2" })));
  });
  afterAll(async () => fleet?.dispose());

  it("see each other, with what each of them runs", async () => {
    const seen = await eventually("three instances", async () => {
      const found = await fleetOf(first());
      const [workers] = found.instances.filter(({ workers: { expected } }) => expected === 2);
      const isWhole = workers?.workers.serving === 2 && workers.admin_url !== null;
      return found.instances.length === 3 && isWhole && found;
    });
    expect(seen.store_answers).toBe(true);
    expect(new Set(seen.instances.map(({ id }) => id)).size).toBe(3);
    expect(seen.instances.filter(({ is_self: isSelf }) => isSelf)).toHaveLength(1);
    expect(seen.instances.map(({ admin_url: url }) => url).toSorted()).toEqual(
      fleet.members.map(({ gateway }) => gateway.adminUrl).toSorted(),
    );
    // The third one has other files.
    expect(seen.agree).toBe(false);
    expect(new Set(seen.instances.map(({ contents }) => contents)).size).toBe(2);
    const atThird = await fleetOf(third());
    expect(atThird.instances.find(({ is_self: isSelf }) => isSelf)?.admin_url).toBe(
      third().gateway.adminUrl,
    );
  });

  it("show an edit within seconds, and why one refuses it", async () => {
    const models = [...DEFAULT_MODELS, "{ id: more, targets: [{ provider: echo, model: echo }] }"];
    second().workspace.write(fleet.text({ models }));
    await eventually("the edit of the second", async () => {
      const { instances } = await fleetOf(first());
      return instances.some(({ generation }) => generation === 2);
    });
    writeFileSync(second().workspace.configPath, "models: [");
    const refused = await eventually("the refusal at the second", async () => {
      const { instances } = await fleetOf(first());
      return instances.find((one) => one.refused !== null);
    });
    expect(refused.refused?.reasons.join("\n")).toContain("config/gateway.yaml:");
    const { stdout, code } = await commandAt(first(), "status", "--fleet");
    expect(code).toBe(0);
    expect(stdout).toContain("the instances run different files");
    expect(stdout).toContain("refused files");
  });

  it("are gone some time after they were killed, and leave no trace after they stopped", async () => {
    const killed = third();
    await killed.gateway.kill();
    // Their clock is that of the database.
    await fleet.database.query("update instance set seen_at_ms = seen_at_ms - 60000");
    const seen = await eventually("two serving instances", async () => {
      const { instances } = await fleetOf(first());
      return instances.filter(({ state }) => state === "serving").length === 2 && instances;
    });
    expect(seen.find(({ state }) => state === "gone")?.workers.serving).toBe(0);
    await second().gateway.stop();
    await eventually("the end of the second", async () => {
      const { instances } = await fleetOf(first());
      return instances.length === 2;
    });
  });

  it("are shown as of the last time that the store answered", async () => {
    await fleet.database.setAway(true);
    const seen = await eventually("the store to be away", async () => {
      const found = await fleetOf(first());
      return !found.store_answers && found;
    });
    expect(seen.instances.map(({ state }) => state)).toContain("serving");
    expect(seen.instances.find(({ is_self: isSelf }) => isSelf)?.state).toBe("serving");
    const { stdout } = await commandAt(first(), "status", "--fleet");
    expect(stdout).toContain("the store does not answer: the other instances are as of");
  });
});

it("on SQLite a gateway is a fleet of one, and shows its workers", async () => {
  const workspace = createWorkspace({ server: "workers: 2" });
  const gateway = await startOwnProcess(workspace);
  try {
    const member = { gateway, workspace, environment: {} };
    const seen = await eventually("both workers", async () => {
      const found = await fleetOf(member);
      return found.instances[0]?.workers.serving === 2 && found;
    });
    expect(seen.instances).toHaveLength(1);
    expect(seen.agree).toBe(true);
  } finally {
    await gateway.dispose();
  }
});
