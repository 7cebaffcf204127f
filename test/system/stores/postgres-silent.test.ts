/** A PostgreSQL that says nothing more on an open connection: nothing waits for it without end. */

import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret, type Store } from "@sluice/contract";
import postgres from "@sluice/store-postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect as connectPools } from "../../../plugins/store-postgres/src/connections.ts";
import { eventually } from "../support/eventually.ts";
import { createDatabase, isServerThere, type TestDatabase } from "../support/postgres.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };

let database: TestDatabase;
let proxy: Server;
/** A connection that carries this text passes nothing more. */
let silentAfter: string | undefined;
let silenced = 0;
const sockets = new Set<Socket>();

function relay(client: Socket): void {
  const { hostname: host, port } = new URL(database.url);
  const server = connect({ host, port: Number(port) });
  let isSilent = false;
  client.on("data", (bytes) => {
    if (!isSilent && silentAfter !== undefined && bytes.includes(silentAfter)) {
      isSilent = true;
      silenced += 1;
    }
    if (!isSilent) server.write(bytes);
  });
  server.on("data", (bytes) => void (isSilent || client.write(bytes)));
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    sockets.add(one);
    one.on("error", () => other.destroy()).on("close", () => other.destroy());
  }
}

function urlThroughProxy(): string {
  const url = new URL(database.url);
  const address = proxy.address();
  url.port = String(typeof address === "object" ? address?.port : "");
  return url.toString();
}

function storeThroughProxy(): Store {
  const dataDirectory = mkdtempSync(join(tmpdir(), "sluice-silent-"));
  const url = new Secret("DATABASE_URL", urlThroughProxy());
  const config = { url, pooler: "none", connections: 4, migrate: "auto" } as const;
  return postgres.create(config as never, { log, clock, dataDirectory });
}

describe.skipIf(!isServerThere)("a PostgreSQL that is silent", () => {
  beforeAll(async () => {
    database = await createDatabase();
    proxy = createServer(relay).listen(0, "127.0.0.1");
    await once(proxy, "listening");
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    proxy?.close();
    await database?.drop();
  });

  it("ends a start that has connected to it", async () => {
    const store = storeThroughProxy();
    silentAfter = "schema_meta";
    await expect(store.start(AbortSignal.timeout(60_000))).rejects.toThrow("timeout");
    expect(silenced).toBeGreaterThan(0);
  });

  it("holds no stop of a store whose job it does not answer", async () => {
    silentAfter = undefined;
    const store = storeThroughProxy();
    await store.start(AbortSignal.timeout(60_000));
    silentAfter = "record_change_pruned set";
    silenced = 0;
    const job = store.jobs?.find(({ name }) => name === "changes");
    const run = Promise.resolve(
      job?.run({ signal: new AbortController().signal, keepLedgerMs: undefined }),
    );
    const ended = run.then(
      () => "done",
      () => "failed",
    );
    await eventually("the job's statement", () => silenced > 0);
    await store.stop();
    expect(await ended).toBe("failed");
  });

  it("is given up by every pool", async () => {
    const url = urlThroughProxy();
    const pools = connectPools({ url, pooler: "none", connections: 4, log });
    const { lookups, writes, reports, migrations, jobs, changes } = pools;
    for (const pool of [lookups, writes, reports, migrations, jobs, changes])
      expect((pool.options as { query_timeout?: number }).query_timeout).toBeGreaterThan(0);
    await pools.end();
  });
});
