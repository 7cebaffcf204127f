/**
 * `server.admin.previous_key` (journeys C7): the master key from before a rotation is accepted
 * beside the new one until a time. `cluster/previous-key.test.ts` has it with workers.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, configPost, MESSAGES } from "../support/client.ts";
import {
  type GatewayProcess,
  MASTER_KEY,
  runCommand,
  startGateway,
} from "../support/gateway-process.ts";

const OLD = "sk-old-master-of-the-system-tests-0123456789";
const LATER = "2090-01-01T00:00Z";
const previous = (until: string): string =>
  `previous_key: { key: "\${env:OLD_KEY}", until: "${until}" }`;

interface Status {
  readonly previous_key: {
    readonly is_accepted: boolean;
    readonly uses: number;
    readonly last_used_at: string | null;
  } | null;
}

const statusOf = async (gateway: GatewayProcess, path: string, key: string): Promise<number> => {
  const response = await admin(gateway, path, undefined, key);
  await response.text();
  return response.status;
};
const viewOf = async (gateway: GatewayProcess): Promise<Status["previous_key"]> =>
  ((await (await admin(gateway, "/config/status")).json()) as Status).previous_key;

async function printed(gateway: GatewayProcess): Promise<string> {
  const { configPath, folder } = gateway.workspace;
  const run = runCommand(
    ["status", "--config", configPath, "--admin-url", gateway.adminUrl],
    folder,
    { OLD_KEY: OLD },
  );
  await run.ended;
  return run.stdout;
}

describe("in one process", () => {
  let gateway: GatewayProcess;
  beforeAll(async () => {
    gateway = await startGateway({}, { OLD_KEY: OLD });
  });
  afterAll(() => gateway?.dispose());

  async function edit(members?: string): Promise<string> {
    gateway.workspace.write(
      gateway.workspace.config(members === undefined ? {} : { server: `admin: { ${members} }` }),
    );
    const { outcome, findings } = await configPost(gateway, "reload");
    // The watcher may have applied the file before the reload.
    return findings[0]?.text ?? (outcome === "unchanged" ? "applied" : outcome);
  }
  const say = async (key: string): Promise<number> => {
    const response = await chat(
      gateway,
      { model: "echo", messages: MESSAGES },
      { headers: { authorization: `Bearer ${key}` } },
    );
    await response.text();
    return response.status;
  };

  it("is refused as long as the configuration does not name it", async () => {
    expect(await statusOf(gateway, "/key/list", OLD)).toBe(401);
    expect(await say(OLD)).toBe(401);
    expect(await viewOf(gateway)).toBeNull();
  });

  it("opens both listeners from the edit on, and the status says how often", async () => {
    expect(await edit(previous(LATER))).toBe("applied");
    expect(await viewOf(gateway)).toMatchObject({ is_accepted: true, uses: 0, last_used_at: null });
    expect(await printed(gateway)).toContain(
      "the previous master key is accepted until 2090-01-01T00:00:00.000Z; not used since",
    );
    expect(await statusOf(gateway, "/key/list", OLD)).toBe(200);
    expect([await say(OLD), await say(MASTER_KEY), await say(`${OLD}x`)]).toEqual([200, 200, 401]);
    expect(await viewOf(gateway)).toMatchObject({ is_accepted: true, uses: 2 });
    expect(await printed(gateway)).toMatch(
      /^warning: the previous master key is accepted until \S+; used 2 times, the last time at /m,
    );
    const said = await Promise.all(
      ["/config/status", "/config/files", "/metrics"].map(async (path) =>
        (await admin(gateway, path)).text(),
      ),
    );
    expect(said.join("") + gateway.stdout + gateway.stderr).not.toContain(OLD);
  });

  it("is refused after its time, and after it was removed", async () => {
    expect(await edit(previous("2026-01-01"))).toBe("applied");
    expect([
      await statusOf(gateway, "/key/list", OLD),
      await say(OLD),
      await say(MASTER_KEY),
    ]).toEqual([401, 401, 200]);
    expect(await printed(gateway)).toContain(
      "the previous master key has ended, at 2026-01-01T00:00:00.000Z: remove",
    );
    expect(await edit(previous(LATER))).toBe("applied");
    expect(await statusOf(gateway, "/key/list", OLD)).toBe(200);
    expect(await edit()).toBe("applied");
    expect(await statusOf(gateway, "/key/list", OLD)).toBe(401);
  });

  it("needs a time, and a reference to the key", async () => {
    expect(await edit(previous("soon"))).toContain(
      '`server.admin.previous_key.until` is "soon", which is not a time',
    );
    expect(await edit('previous_key: { key: "${env:OLD_KEY}" }')).toContain("until");
    expect(await edit(`previous_key: { key: ${OLD}, until: "${LATER}" }`)).toContain(
      "server.admin.previous_key.key",
    );
  });
});
