/** The audit, through the admin listener and the command: what it records, and what breaks it. */

import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type GatewayProcess,
  MASTER_KEY,
  runCommand,
  startGateway,
} from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const READ_KEY = "read-key-of-the-audit-tests-0123456789";

let workspace: Workspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  workspace = createWorkspace({ server: 'admin: { read_key: "${env:READ_KEY}" }' });
  gateway = await startGateway(workspace, { READ_KEY });
});

afterAll(async () => {
  await gateway?.dispose();
  workspace?.remove();
});

type Line = Readonly<Record<string, unknown>>;

async function ask(path: string, body?: object, key = MASTER_KEY) {
  const response = await fetch(`${gateway.adminUrl}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Line };
}

async function linesOf(query: string): Promise<readonly Line[]> {
  const { status, body } = await ask(`/audit?${query}`);
  expect(status).toBe(200);
  return body["lines"] as readonly Line[];
}

async function verify(...args: readonly string[]) {
  const command = runCommand(
    ["audit", "verify", "--config", workspace.configPath, ...args],
    workspace.folder,
    { SLUICE_ADMIN_PORT: new URL(gateway.adminUrl).port, SLUICE_MASTER_KEY: MASTER_KEY },
  );
  const { code } = await command.ended;
  return { code, text: command.stdout + command.stderr };
}

function inStore(change: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(join(workspace.dataDirectory, "sluice.db"));
  change(database);
  database.close();
}

describe("the audit", () => {
  it("has what was there before and after, and no secret", async () => {
    const made = await ask("/key/generate", { key_alias: "one", rpm: 5, metadata: { note: "n1" } });
    const { key, token_id: id } = made.body as { key: string; token_id: string };
    await ask("/key/update", { key: id, rpm: 9, metadata: { note: "n2" } });
    const rotated = await ask("/key/regenerate", { key: id });
    await ask("/key/delete", { key_aliases: ["one"] });
    const lines = await linesOf(`object=key:${id}&order=oldest`);
    expect(
      lines.map(({ action, outcome, before, after }) => ({ action, outcome, before, after })),
    ).toEqual([
      {
        action: "key.create",
        outcome: "done",
        before: null,
        after: expect.objectContaining({ key_alias: "one", rpm_limit: 5 }),
      },
      {
        action: "key.update",
        outcome: "done",
        before: { rpm_limit: 5, metadata: "[not recorded]" },
        after: { rpm_limit: 9, metadata: "[not recorded]" },
      },
      { action: "key.rotate", outcome: "done", before: null, after: { key: "[not recorded]" } },
      {
        action: "key.delete",
        outcome: "done",
        before: expect.objectContaining({ key_alias: "one", rpm_limit: 9 }),
        after: null,
      },
    ]);
    expect(lines[0]).toMatchObject({ actor: "master", user_id: null, address: "127.0.0.1" });
    const text = JSON.stringify(await linesOf("limit=1000"));
    for (const secret of [key, String(rotated.body["key"]), "n1", "n2", MASTER_KEY])
      expect(text).not.toContain(secret);
  });

  it("has what was refused, and what was tried with the configuration", async () => {
    expect((await ask("/key/list", undefined, READ_KEY)).status).toBe(403);
    expect((await ask("/config/reload", {}, READ_KEY)).status).toBe(403);
    await ask("/config/reload", { author: "Ann" });
    await ask("/config/rollback", { generation: 900 });
    const lines = await linesOf("limit=20");
    expect(
      lines
        .filter(({ action }) => !String(action).startsWith("key.") || action === "key.read")
        .toReversed()
        .map(({ actor, action, outcome }) => [actor, action, outcome]),
    ).toEqual([
      ["read_key", "key.read", "refused"],
      ["read_key", "config.reload", "refused"],
      ["master", "config.reload", "begun"],
      ["master", "config.reload", "done"],
      ["master", "config.rollback", "begun"],
      ["master", "config.rollback", "failed"],
    ]);
    expect(lines.find(({ outcome }) => outcome === "done")).toMatchObject({
      action: "config.reload",
      after: { author: "Ann", outcome: "unchanged" },
    });
  });

  it.each(["limit=0", "limit=1001", "cursor=x", "order=up", "outcome=x", "since=x", "foo=1"])(
    "refuses ?%s",
    async (query) => {
      expect((await ask(`/audit?${query}`)).status).toBe(400);
    },
  );

  it("is read by pages that leave nothing out", async () => {
    const all = await linesOf("limit=1000");
    const seen: unknown[] = [];
    let cursor: unknown = "";
    while (cursor !== null) {
      const { body } = await ask(`/audit?limit=3&cursor=${String(cursor)}`);
      seen.push(...(body["lines"] as readonly Line[]).map(({ seq }) => seq));
      cursor = body["next_cursor"];
    }
    expect(seen).toEqual(all.map(({ seq }) => seq));
  });

  it("refuses a change whose line cannot be written, and an attempt before it begins", async () => {
    const made = await ask("/key/generate", { rpm: 5 });
    const id = String(made.body["token_id"]);
    const history = async () => (await ask("/config/history")).body["attempts"];
    const before = await history();
    inStore((database) =>
      database.exec(
        "create trigger full before insert on audit begin select raise(abort, 'x'); end",
      ),
    );
    const answers = [
      await ask("/key/update", { key: id, rpm: 6 }),
      await ask("/key/delete", { keys: [id] }),
      await ask("/key/generate", { key_alias: "never" }),
      await ask("/team/new", { team_id: "never" }),
      await ask("/config/reload", {}),
    ];
    expect(answers.map(({ status }) => status >= 500)).toEqual(answers.map(() => true));
    // A refusal stays one.
    expect((await ask("/key/list", undefined, READ_KEY)).status).toBe(403);
    inStore((database) => database.exec("drop trigger full"));
    expect((await ask(`/key/info?key=${id}`)).body).toMatchObject({ info: { rpm_limit: 5 } });
    expect((await ask("/key/info?key_alias=never")).status).toBe(404);
    expect((await ask("/team/info?team_id=never")).status).toBe(404);
    expect(await history()).toEqual(before);
  });
});

describe("sluice audit verify", () => {
  it("finds the chain whole, and a changed, a missing and a cut line", async () => {
    for (let line = 0; line < 6; line += 1) await ask("/key/generate", {});
    const whole = await verify();
    expect([whole.code, whole.text]).toEqual([0, expect.stringMatching(/is whole\. Its head is /)]);
    const head = /Its head is (\d+:[0-9a-f]{64})/.exec(whole.text)?.[1] ?? "";
    expect((await verify("--head", head)).code).toBe(0);
    const last = Number(head.split(":")[0]);
    expect(last).toBeGreaterThan(5);

    inStore((database) => {
      database.exec("drop trigger audit_update");
      database.exec("update audit set outcome = 'done' where seq = 3");
      database.exec("update audit set outcome = 'refused' where seq = 3");
    });
    const changed = await verify();
    expect([changed.code, changed.text]).toEqual([1, expect.stringContaining("breaks at line 3:")]);
    inStore((database) => database.exec("update audit set outcome = 'done' where seq = 3"));
    expect((await verify()).code).toBe(0);

    inStore((database) => database.exec(`delete from audit where seq = ${last}`));
    // Without a head from the log a cut tail does not show.
    expect((await verify()).code).toBe(0);
    const cut = await verify("--head", head);
    expect([cut.code, cut.text]).toEqual([1, expect.stringContaining("last lines are gone")]);

    inStore((database) => database.exec("delete from audit where seq = 4"));
    const missing = await verify();
    expect([missing.code, missing.text]).toEqual([1, expect.stringContaining("breaks at line 4")]);
  });
});
