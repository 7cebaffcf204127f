/**
 * Proof: one key hurts no other. `npm run proof:isolation`; `-- --workers 2`, `-- --rows
 * connections,slots`. Each row attacks one thing that keys share, beside a victim with one request
 * every 50 ms. A row passes where no request of the victim fails, its p99 is at most twice the
 * quiet one (20 ms at least: the machine's own noise), and the attacker is refused by name. Victim
 * and attacker are processes of their own (isolation-parts.ts). While the quiet p99 is taken, the
 * attacker's process computes at the same lowest priority, without a request. A row that is over
 * its goal only because the gateway's serving thread waited for a core (core-waits.ts) says so.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createUpstream, type UpstreamScript } from "@sluice/testing";
import { admin } from "../system/support/client.ts";
import { openService } from "./isolation-service.ts";
import { FIRST_ROWS, MORE_ROWS } from "./isolation-first-rows.ts";
import { Part } from "./isolation-parts.ts";
import { OPTIONS as values, type Row } from "./isolation-stage.ts";
import { LATER_ROWS } from "./isolation-rows.ts";
import { startGateway } from "../system/support/gateway-process.ts";
import { createWorkspace } from "../system/support/workspace.ts";

const NOISE_MS = 20;

async function run(name: string, row: Row): Promise<boolean> {
  const [upstream, service] = await Promise.all([createUpstream(), openService()]);
  const provider = (each: string): string =>
    `${each}: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.baseUrl}, connections: 128, timeouts: { queue: 2s } }`;
  const options = {
    attempts: name === "retries" ? 2 : 1,
    server: `workers: ${values.workers}, auto_rollback: { error_rate: 20%, for: 30s }, max_held: 128mb`,
    providers: [
      provider("up"),
      provider("other"),
      `claude: { use: anthropic, api_key: "\${env:OPENAI_API_KEY}", base_url: ${service.url}, fetch_media: { allow_origins: ["${service.url}"], max_parallel: 6, timeout: 3s } }`,
    ],
    models: [
      '{ id: "up/*", targets: [{ provider: up, model: "*" }] }',
      '{ id: "other/*", targets: [{ provider: other, model: "*" }] }',
      "{ id: dear, targets: [{ provider: up, model: dear, price: { input: 1, output: 10 } }] }",
      "{ id: slots, targets: [{ provider: up, model: slots, max_parallel: 8, queue: 20, queue_timeout: 5s }] }",
      "{ id: untagged, targets: [{ provider: up, model: untagged, price: { input: 1, output: 10 } }] }",
      "{ id: minute, targets: [{ provider: up, model: minute, tpm: 2000000 }] }",
      "{ id: nearest, balance: lowest_latency, targets: [{ provider: up, model: near }, { provider: up, model: far }] }",
      '{ id: "claude/*", targets: [{ provider: claude, model: "*" }] }',
      "{ id: hedged, targets: [{ provider: up, model: hedged }, { provider: other, model: hedged }] }",
      "{ id: echo, targets: [{ provider: echo, model: echo }] }",
    ],
  };
  const workspace = createWorkspace(options);
  const guardrails = `guardrails:\n  service: { use: http, url: "${service.url}/judge", sample: forbidden, connections: 8, budget_ms: 2000, scope: [user] }\n`;
  const fileOf = (models: readonly string[]): string =>
    workspace.config({ ...options, models }) + guardrails;
  workspace.write(fileOf(options.models));
  for (const file of readdirSync(workspace.pipelinesFolder)) {
    const path = join(workspace.pipelinesFolder, file);
    const text = readFileSync(path, "utf8");
    writeFileSync(
      path,
      withHedges(name, file, text).replace(
        /^( +- )limits\b.*$/m,
        "$1{ use: limits, with: { max_in_flight: 200, budgets: [{ per: tag, max: 1000, duration: 1d }] } }",
      ),
    );
  }
  const gateway = await startGateway(workspace);
  const keys: string[] = [];
  const newKey = async (body: object = {}): Promise<string> => {
    const { key } = (await (await admin(gateway, "/key/generate", body)).json()) as { key: string };
    keys.push(key);
    return key;
  };
  const addModel = (model: string): void => workspace.write(fileOf([...options.models, model]));
  const script = (each: string, ...scripts: readonly UpstreamScript[]): void =>
    upstream.script(each, ...scripts);
  const [victim, attacker] = [new Part(script), new Part(script)];
  try {
    const stage = { gateway, upstream, serviceUrl: service.url, newKey, addModel };
    const { refusal, settleMs = 500 } = await row(stage);
    const { pid, publicUrl, adminUrl, masterKey } = gateway;
    const reached = { pid, publicUrl, adminUrl, masterKey };
    const start = { row: name, gateway: reached, serviceUrl: service.url, keys };
    await victim.ask({ ...start, role: "victim" });
    await attacker.ask({ ...start, role: "attacker" });
    await victim.watch();
    await attacker.ask("burn");
    const quiet = await victim.watch();
    await attacker.ask("rest");
    await attacker.ask("attack");
    await pause(settleMs);
    const during = await victim.watch();
    const { isNamed, count, first = "none" } = await attacker.end();
    if (!isNamed) console.info(`Refusals of ${name}: ${count}; the first: ${first}`);
    const goalMs = Math.max(NOISE_MS, 2 * quiet.p99Ms);
    const isServed = during.failed === 0 && isNamed;
    const isWell = isServed && during.p99Ms <= goalMs;
    const isMachine = isServed && during.ownP99Ms <= goalMs;
    const outcome = isWell ? "ok" : isMachine ? "over, by waits for a core" : "FAILED";
    const named = refusal === undefined ? "loses its own" : isNamed ? "yes" : "NO";
    console.info(
      `| ${name} | ${quiet.p99Ms.toFixed(1)} | ${during.p99Ms.toFixed(1)} | ${during.ownP99Ms.toFixed(1)} | ${during.failed} of ${during.count} | ${named} | ${during.loopMs.toFixed(0)} | ${outcome} |`,
    );
    return isWell;
  } finally {
    await Promise.all([victim.close(), attacker.close()]);
    await gateway.dispose();
    await Promise.all([upstream.close(), service.close()]);
  }
}

/** The step `hedge` in the pipeline of chats, for the row that looks at it. */
function withHedges(row: string, file: string, text: string): string {
  if (row !== "hedges" || file !== "chat.yaml") return text;
  const step =
    "{ use: hedge, with: { after: p90, initial_after: 150ms, min_samples: 20, max_rate: 30% } }";
  return text.replace(/^( +- )balance$/m, `$1${step}\n$&`);
}

const all: Readonly<Record<string, Row>> = { ...FIRST_ROWS, ...MORE_ROWS, ...LATER_ROWS };
const chosen = values.rows === "" ? Object.keys(all) : values.rows.split(",");
console.info(
  "Quiet: the victim alone, beside a process of lowest priority that computes and sends nothing. Attacked: that process attacks.\n\n| Row | p99 quiet, ms | p99 attacked, ms | The same without the gateway's waits for a core | Victim's failures | Attacker refused by name | Longest delay of the victim's own loop, ms | |\n|---|---|---|---|---|---|---|---|",
);
let isWell = true;
for (const name of chosen) {
  const row = all[name];
  if (row === undefined)
    throw new Error(`There is no row ${name}; there are ${Object.keys(all).join(", ")}.`);
  isWell = (await run(name, row)) && isWell;
}
process.exitCode = isWell ? 0 : 1;
