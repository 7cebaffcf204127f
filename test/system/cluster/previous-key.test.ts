/**
 * The exchange of the master key with several workers (journeys C7): `server.admin.previous_key`
 * and restarts.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { admin, configPost } from "../support/client.ts";
import { restartWorkers } from "../support/cluster-workspace.ts";
import { type GatewayProcess, MASTER_KEY, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const OLD = "sk-old-master-of-the-system-tests-0123456789";
const PREVIOUS = 'previous_key: { key: "${env:OLD_KEY}", until: "2090-01-01T00:00Z" }';

const statusOf = async (gateway: GatewayProcess, path: string, key: string): Promise<number> => {
  const response = await admin(gateway, path, undefined, key);
  await response.text();
  return response.status;
};

describe("server.admin.previous_key with workers and the key in its file", () => {
  it("is exchanged by a restart: both are accepted until the old one is removed", async () => {
    const workspace = createWorkspace({
      server: `workers: 2, drain_timeout: 1s, admin: { ${PREVIOUS} }`,
    });
    const file = join(workspace.dataDirectory, "master.key");
    mkdirSync(workspace.dataDirectory, { recursive: true });
    writeFileSync(file, `${OLD}\n`, { mode: 0o600 });
    const gateway = await startGateway(workspace, { SLUICE_MASTER_KEY: undefined, OLD_KEY: OLD });
    try {
      const restarted = async (key: string): Promise<number> => {
        const response = await admin(gateway, "/restart", {}, key);
        await response.text();
        return response.status;
      };
      expect(await statusOf(gateway, "/key/list", MASTER_KEY)).toBe(401);
      writeFileSync(file, `${MASTER_KEY}\n`);
      expect((await restartWorkers(gateway)).outcome).toBe("restarted");
      for (const path of ["/key/list", "/config/status"])
        expect([
          path,
          await statusOf(gateway, path, OLD),
          await statusOf(gateway, path, MASTER_KEY),
        ]).toEqual([path, 200, 200]);
      const { previous_key: view } = (await (await admin(gateway, "/config/status")).json()) as {
        readonly previous_key: { readonly uses: number } | null;
      };
      expect(view?.uses).toBeGreaterThan(0);
      expect(await restarted(OLD)).toBe(200);
      workspace.write(workspace.config({ server: "workers: 2, drain_timeout: 1s" }));
      // The watcher may have applied the edit by itself.
      expect(["applied", "unchanged"]).toContain((await configPost(gateway, "reload")).outcome);
      expect([await restarted(OLD), await statusOf(gateway, "/key/list", OLD)]).toEqual([401, 401]);
      expect(await restarted(MASTER_KEY)).toBe(200);
    } finally {
      await gateway.dispose();
    }
  });
});
