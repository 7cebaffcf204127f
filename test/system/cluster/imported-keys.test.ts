/** The first use of imported keys, at two workers together: each request is served. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createClusterWorkspace } from "../support/cluster-workspace.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import {
  exportJsonLines,
  keyRow,
  litellmSecret,
} from "../operators/litellm-database/export.fixture.ts";

const KEYS = 100;
/** Requests with each key at the same time. */
const AT_ONCE = 4;

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway(createClusterWorkspace(upstream.baseUrl));
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

it("replaces the digest of each key once, and refuses no request meanwhile", async () => {
  const { folder, dataDirectory } = gateway.workspace;
  const secrets = Array.from({ length: KEYS }, litellmSecret);
  const file = join(folder, "keys.jsonl");
  writeFileSync(
    file,
    exportJsonLines(
      "key",
      secrets.map((secret) => keyRow(secret)),
    ),
  );
  const command = runCommand(
    ["import", "litellm-database", file, "--admin-url", gateway.adminUrl],
    folder,
    { SLUICE_CONFIG: gateway.configPath },
  );
  expect(await command.ended).toMatchObject({ code: 0 });

  const statusOf = async (key: string): Promise<number> => {
    // A connection of its own goes to either worker.
    const headers = { authorization: `Bearer ${key}`, connection: "close" };
    const response = await fetch(`${gateway.publicUrl}/v1/models`, { headers });
    await response.arrayBuffer();
    return response.status;
  };
  for (let start = 0; start < KEYS; start += 10) {
    const batch = secrets
      .slice(start, start + 10)
      .flatMap((key) => Array<string>(AT_ONCE).fill(key));
    expect(new Set(await Promise.all(batch.map(statusOf)))).toEqual(new Set([200]));
  }
  const database = new DatabaseSync(join(dataDirectory, "sluice.db"), { readOnly: true });
  const unused = database.prepare(
    "select count(*) as count from virtual_key where digest like 'sha256:%'",
  );
  await eventually("the digests to be replaced", () => unused.get()?.["count"] === 0);
  database.close();
  for (const key of secrets.slice(0, 10)) expect(await statusOf(key)).toBe(200);
});
