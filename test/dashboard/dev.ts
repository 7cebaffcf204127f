/**
 * `npm run dev:dashboard`: the dashboard's sources by Vite, before a gateway with a scripted
 * upstream, made-up records and a request every second. `--workers 2` starts workers.
 */

import { parseArgs } from "node:util";
import { setTimeout as pause } from "node:timers/promises";
import { createServer } from "vite";
import { VITE } from "../../core/dashboard/build.ts";
import { seedRecords, seedTraffic } from "./support/seed.ts";
import { startStand } from "./support/stand.ts";

const { values } = parseArgs({
  options: { port: { type: "string", default: "5173" }, workers: { type: "string", default: "1" } },
});
await using stand = await startStand({ workers: Number(values.workers) });
const { adminUrl, masterKey } = stand.gateway;
const vite = await createServer({
  ...VITE,
  base: "/ui/",
  server: {
    host: "127.0.0.1",
    port: Number(values.port),
    // Everything that is no file of Vite is the gateway's. `Host` stays the browser's.
    proxy: { "^/(?!ui/)|^/ui/(?:session|code)": { target: adminUrl, changeOrigin: false } },
  },
});
await vite.listen();
const keys = await seedRecords(stand);
const ends = new AbortController();
process.once("SIGINT", () => ends.abort());
process.once("SIGTERM", () => ends.abort());
console.log(`http://127.0.0.1:${values.port}/ui/ with the key ${masterKey}`);
while (!ends.signal.aborted) {
  await seedTraffic(stand, keys);
  await pause(1_000, undefined, { signal: ends.signal }).catch(() => undefined);
}
await vite.close();
