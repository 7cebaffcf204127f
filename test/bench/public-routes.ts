/**
 * The route of a public request: the gateway's table beside `@koa/router`, one router a generation,
 * with the routes of the shipped pipelines. CPU time of one look-up, as each needs it for a
 * request. `node test/bench/public-routes.ts`. Figures stand in
 * core/decisions/2026-11-22-public-routes.md.
 */

import { Router } from "@koa/router";
import { RouteTable } from "../../core/engine/src/pipeline/routes.ts";

const ROUTES = [
  "POST /v1/chat/completions",
  "POST /chat/completions",
  "POST /v1/embeddings",
  "POST /embeddings",
  "POST /v1/images/generations",
  "POST /images/generations",
  "GET /v1/models",
  "GET /models",
  "GET /v1/model/info",
  "GET /model/info",
  "GET /spend/logs",
  "GET /spend/tags",
  "POST /spend/calculate",
  "POST /ref/deployments/{model}/chat/completions",
  "POST /ref/deployments/{model}/embeddings",
  "POST /ref/deployments/{model}/images/generations",
  "GET /v1/models/{model...}",
  ...["GET", "POST", "PUT", "PATCH", "DELETE"].map(
    (method) => `${method} /{provider}/{endpoint...}`,
  ),
];
const ASKED = [
  "POST /v1/chat/completions",
  "POST /ref/deployments/gpt-4o/chat/completions",
  "POST /anthropic/v1/messages",
];
const LOOKUPS = 100_000;
const ROUNDS = 5;

const table = new RouteTable<() => void>();
const router = new Router({ sensitive: true, strict: true });
for (const route of ROUTES) {
  const [method = "", path = ""] = route.split(" ");
  table.add(method, path, () => undefined);
  // The router takes the first match in the order of registration; the table sorts patterns itself.
  router.register(
    path.replaceAll(/\{(\w+)\.\.\.\}/g, "*$1").replaceAll(/\{(\w+)\}/g, ":$1"),
    [method],
    () => undefined,
  );
}
const dispatch = router.routes() as unknown as (
  ctx: object,
  next: () => Promise<void>,
) => Promise<void>;
const next = (): Promise<void> => Promise.resolve();

const sides: Readonly<Record<string, (method: string, path: string) => unknown>> = {
  table: (method, path) => table.find(method, path),
  // What a gateway would use of the router besides its middleware: the layers of the path, and the
  // parameters.
  "router.match": (method, path) => {
    const layer = router.match(path, method).pathAndMethod[0];
    return layer?.params(path, layer.captures(path), {});
  },
  "router.routes": (method, path) =>
    dispatch({ method, path, params: {}, host: "", request: {} }, next),
};

for (const asked of ASKED) {
  const [method = "", path = ""] = asked.split(" ");
  const times = new Map(Object.keys(sides).map((side) => [side, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [side, look] of Object.entries(sides)) {
      const before = process.cpuUsage();
      // Under a microtask queue of one look-up at a time, as for requests.
      // oxlint-disable-next-line no-await-in-loop -- the next look-up begins after this one.
      for (let index = 0; index < LOOKUPS; index++) await look(method, path);
      const { user, system } = process.cpuUsage(before);
      times.get(side)?.push((user + system) / LOOKUPS);
    }
  }
  const shown = [...times].map(
    ([side, all]) => `${side} ${all.toSorted((a, b) => a - b)[ROUNDS >> 1]?.toFixed(2)} µs`,
  );
  console.log(`${asked.padEnd(48)} ${shown.join("  ")}`);
}
