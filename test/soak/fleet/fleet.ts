/**
 * `npm run proof:fleet`: three gateways on one PostgreSQL and one Redis, five minutes of mixed load.
 * A gateway is killed every ten seconds, PostgreSQL is stopped for 20 s twice, Redis once, and one
 * gateway loses the network to both. No row may be lost or doubled, no budget exceeded, and no
 * request fail but those under way at a kill. In the end rows, sums and counters must agree with
 * what the upstream has counted. All servers are its own. `-- --minutes 2 --rate 20 --outages Redis`
 * for less, `-- --keep` keeps the folders of the gateways and what was compared. Linux only, as root
 * for the network. Ends with 1 when something is wrong.
 */

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startCluster } from "../support/postgres-cluster.ts";
import { runEvents } from "./events.ts";
import { type Gateway, LEASE_MS, PREFIX, startGateways } from "./gateways.ts";
import { createNetwork, type OwnNetwork } from "./network.ts";
import { startRedis } from "./redis.ts";
import { Traffic } from "./traffic.ts";
import { makeKeys } from "./units.ts";
import { startUpstream } from "./upstream.ts";
import { judge } from "./verdict.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    rate: { type: "string", default: "40" },
    outages: { type: "string", default: "PostgreSQL,Redis,network" },
    keep: { type: "boolean", default: false },
  },
});
const TOTAL_MS = Number(values.minutes) * 60_000;
const RATE = Number(values.rate);
const LOCAL = "127.0.0.1";
const DATABASE = "fleet";
/** Faults of each kind that are printed. */
const MAX_SHOWN = 12;

const startedMs = performance.now();
const note = (line: string): void =>
  console.log(`${((performance.now() - startedMs) / 1_000).toFixed(1).padStart(6)} s  ${line}`);

function networkIfPermitted(): OwnNetwork | undefined {
  try {
    return createNetwork();
  } catch (error) {
    note(`no network of its own: ${String(error).split("\n")[0]}`);
    return undefined;
  }
}

function verifySums(gateway: Gateway): string {
  const { workspace, environment } = gateway;
  const command = new URL("../../../core/cli/bin/sluice.js", import.meta.url).pathname;
  const words = [command, "ledger", "verify", "--config", workspace.configPath];
  try {
    return execFileSync(process.execPath, words, {
      cwd: workspace.folder,
      env: environment,
      encoding: "utf8",
    }).trim();
  } catch (error) {
    return `differ: ${String((error as { stdout?: string }).stdout ?? error)}`;
  }
}

const network = networkIfPermitted();
const [postgres, redis, upstream] = await Promise.all([
  startCluster({ shared_buffers: "64MB" }),
  startRedis(),
  startUpstream([LOCAL, ...(network === undefined ? [] : [network.frontHost])]),
]);
let gateways: Gateway[] = [];
let isRight = false;
try {
  await postgres.query(`create database ${DATABASE}`);
  await network?.relay(postgres.port);
  await network?.relay(redis.port);
  const here = {
    host: LOCAL,
    upstream: `http://${LOCAL}:${upstream.port}`,
    postgresHost: LOCAL,
    redisHost: LOCAL,
    prefix: [],
  };
  const apart =
    network === undefined
      ? here
      : {
          host: network.gatewayHost,
          upstream: `http://${network.frontHost}:${upstream.port}`,
          postgresHost: network.backHost,
          redisHost: network.backHost,
          prefix: network.prefix,
        };
  const servers = { postgres: postgres.port, redis: redis.port, database: DATABASE };
  gateways = await startGateways([here, here, apart], servers);
  const perSecond = (RATE * 0.75) / 100;
  const keys = await makeKeys(
    gateways[0]!,
    postgres.url(DATABASE),
    Math.ceil((perSecond * TOTAL_MS) / 1_000) + 12,
  );
  note(`${gateways.length} gateways serve; ${keys.units.length} budgets`);
  const all = [...keys.units.flatMap((unit) => unit.keys), ...keys.free, ...keys.windowed];
  for (const gateway of gateways) await gateway.serve(all);
  const traffic = new Traffic(gateways, keys);
  await traffic.warm();
  note("every gateway knows the keys, and Redis the budgets");
  const load = traffic.run(RATE);
  const useBudgets = () => traffic.warm();
  const fleet = { gateways, postgres, redis, network, useBudgets };
  const losses = await runEvents(fleet, TOTAL_MS, values.outages.split(","), note);
  traffic.stop();
  await load;
  note(`the load has ended; ${traffic.spent} budgets were spent`);
  // Reservations of killed gateways end, and rows arrive.
  await pause(LEASE_MS + 10_000);
  const counters = await redis.counters(PREFIX);
  const verdict = await judge({
    outcomes: traffic.outcomes,
    calls: upstream.calls,
    units: keys.units,
    losses,
    counters,
    databaseUrl: postgres.url(DATABASE),
  });
  const sums = verifySums(gateways[0]!);
  for (const line of [...verdict.lines, `sums: ${sums}`]) note(line);
  for (const faults of verdict.faults) {
    for (const fault of faults.slice(0, MAX_SHOWN)) note(`WRONG ${fault}`);
    if (faults.length > MAX_SHOWN) note(`WRONG ${faults.length - MAX_SHOWN} more of this kind`);
  }
  if (values.keep) {
    const path = join(gateways[0]!.workspace.folder, "evidence.json");
    const { outcomes } = traffic;
    const killed = gateways.map(({ name, killedAtMs }) => ({ name, killedAtMs }));
    writeFileSync(path, JSON.stringify({ startedMs, losses, killed, outcomes, counters }, null, 1));
  }
  const count = verdict.faults.flat().length;
  isRight = count === 0 && sums.includes("exact");
  note(isRight ? "all agree" : `${count} faults`);
} finally {
  for (const gateway of gateways) await gateway.stop();
  if (!values.keep) for (const gateway of gateways) gateway.workspace.remove();
  else for (const gateway of gateways) note(gateway.workspace.folder);
  await upstream.close();
  await redis.remove();
  await postgres.remove();
  await network?.remove();
}
process.exitCode = isRight ? 0 : 1;
