/**
 * Proof: one key hurts no other. `npm run proof:isolation`; `-- --workers 2`, `-- --rows
 * connections,slots`. Each row attacks one thing that keys share, beside a victim with one request
 * every 50 ms. A row passes where no request of the victim fails, its p99 is at most twice the
 * quiet one (20 ms at least: the machine's own noise), and the attacker is refused by name.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { createUpstream } from "@sluice/testing";
import { admin, chat, MESSAGES } from "../system/support/client.ts";
import { openService } from "./isolation-service.ts";
import { again, flood, keyed, type Row, type Stage } from "./isolation-stage.ts";
import { LATER_ROWS } from "./isolation-rows.ts";
import { startGateway } from "../system/support/gateway-process.ts";
import { createWorkspace } from "../system/support/workspace.ts";

const { values } = parseArgs({
  options: {
    workers: { type: "string", default: "1" },
    rows: { type: "string", default: "" },
    seconds: { type: "string", default: "5" },
  },
});
const SECONDS = Number(values.seconds);
const EVERY_MS = 50;
const NOISE_MS = 20;

const rows: Readonly<Record<string, Row>> = {
  async connections(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("slow", { kind: "hang" });
    return {
      victim: () => chat(stage.gateway, { model: "up/good", messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) =>
        flood(stage, 140, attacker, { model: "up/slow", stream: true }, signal, refused),
      refusal: /The provider up had no room|in_flight_share/,
    };
  },
  async echo(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    const body = JSON.stringify({ model: "echo", dimensions: 4_096, input: "a ".repeat(30_000) });
    return {
      victim: () => chat(stage.gateway, { model: "up/good", messages: MESSAGES }, keyed(victim)),
      async attack(signal, refused) {
        while (!signal.aborted) {
          const headers = {
            authorization: `Bearer ${attacker}`,
            "content-type": "application/json",
          };
          const response = await fetch(`${stage.gateway.publicUrl}/v1/embeddings`, {
            method: "POST",
            headers,
            body,
          });
          refused(await response.text());
          await pause(100);
        }
      },
      refusal: /words times dimensions/,
    };
  },
  async reservations(stage) {
    const { team_id } = (await (
      await admin(stage.gateway, "/team/new", { max_budget: 10 })
    ).json()) as { team_id: string };
    const [attacker, victim] = [await stage.newKey({ team_id }), await stage.newKey({ team_id })];
    stage.upstream.script("attacker", { kind: "hang" });
    const asked = { model: "dear", stream: true, n: 8, max_tokens: 120_000, user: "attacker" };
    return {
      victim: () =>
        chat(stage.gateway, { model: "dear", max_tokens: 100, messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) => flood(stage, 2, attacker, asked, signal, refused),
      refusal: /may reserve 2.5 US dollars of the team's budget/,
    };
  },
  async slots(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("attacker", { kind: "reply", delayMs: 10_000 });
    return {
      victim: () => chat(stage.gateway, { model: "slots", messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) =>
        flood(stage, 28, attacker, { model: "slots", user: "attacker" }, signal, refused),
      refusal: /This key has/,
    };
  },
  async room(stage) {
    const [one, two, victim] = [await stage.newKey(), await stage.newKey(), await stage.newKey()];
    stage.upstream.script("slow", { kind: "hang" });
    return {
      victim: () => chat(stage.gateway, { model: "other/good", messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) =>
        Promise.all(
          [one, two].map((key) => flood(stage, 200, key, { model: "up/slow" }, signal, refused)),
        ),
      refusal: /in_flight_share|no room|no place/,
    };
  },
  async cache(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("large", { kind: "reply", text: "x".repeat(1_000_000) });
    const ask = (key: string, model: string, text: string): Promise<Response> =>
      chat(
        stage.gateway,
        { model, caching: true, messages: [{ role: "user", content: text }] },
        keyed(key),
      );
    await (await ask(victim, "up/good", "kept")).text();
    await (await ask(victim, "up/good", "kept")).text();
    const before = stage.upstream.requests.filter(
      ({ parsed }) => parsed?.["model"] === "good",
    ).length;
    return {
      async victim() {
        const response = await ask(victim, "up/good", "kept");
        const calls = stage.upstream.requests.filter(
          ({ parsed }) => parsed?.["model"] === "good",
        ).length;
        return calls === before
          ? response
          : new Response("the reply was not in the cache", { status: 599 });
      },
      async attack(signal) {
        for (let n = 0; !signal.aborted; n += 1) {
          await (await ask(attacker, "up/large", `entry ${n}`)).text();
          await pause(40);
        }
      },
      // The attacker loses its own replies; it is refused nothing.
      refusal: undefined,
    };
  },
};

const get = (stage: Stage, path: string, key: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${stage.gateway.publicUrl}${path}`, keyed(key, signal));

const MORE_ROWS: Readonly<Record<string, Row>> = {
  async ejection(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("attacker", { kind: "error", status: 500 });
    const asked = { model: "up/good", user: "attacker", num_retries: 0 };
    return {
      victim: () => chat(stage.gateway, { model: "up/good", messages: MESSAGES }, keyed(victim)),
      attack: (signal) => flood(stage, 5, attacker, asked, signal, () => undefined),
      // Its own requests fail at the upstream; nothing refuses them.
      refusal: undefined,
    };
  },
  async reports(stage) {
    const [attacker, writer] = [await stage.newKey(), await stage.newKey()];
    const tags = (turn: number): string[] =>
      Array.from({ length: 60 }, (_, n) => `report-${turn}-${n}`);
    for (let turn = 0; turn < 40; turn += 1) {
      await (
        await chat(
          stage.gateway,
          { model: "untagged", tags: tags(turn), messages: MESSAGES },
          keyed(writer),
        )
      ).text();
    }
    const keys: string[] = [];
    for (let n = 0; n < (3 * SECONDS * 1_000) / EVERY_MS + 20; n += 1)
      keys.push(await stage.newKey({ max_budget: 5 }));
    let next = 0;
    return {
      // Each request is the first one of a key with a budget.
      victim: () =>
        chat(
          stage.gateway,
          { model: "dear", max_tokens: 100, messages: MESSAGES },
          keyed(keys[next++] ?? ""),
        ),
      attack: (signal, refused) =>
        Promise.all(
          Array.from({ length: 60 }, () =>
            again(signal, 500, async () => {
              const response = await get(
                stage,
                "/spend/tags?start_date=2020-01-01&end_date=2100-01-01",
                attacker,
                signal,
              );
              const text = await response.text();
              if (response.status >= 400) refused(text);
            }),
          ),
        ),
      refusal: /The queue of spend reports/,
    };
  },
  async edit(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("attacker", { kind: "error", status: 500 });
    stage.addModel("{ id: added, targets: [{ provider: up, model: added }] }");
    for (;;) {
      const response = await chat(
        stage.gateway,
        { model: "added", messages: MESSAGES },
        keyed(victim),
      );
      await response.text();
      if (response.status === 200) break;
      await pause(100);
    }
    return {
      victim: () => chat(stage.gateway, { model: "added", messages: MESSAGES }, keyed(victim)),
      attack: (signal) =>
        flood(
          stage,
          10,
          attacker,
          { model: "up/other", user: "attacker" },
          signal,
          () => undefined,
        ),
      refusal: undefined,
    };
  },
  async tags(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey({ tags: ["team-blue"] })];
    return {
      victim: () =>
        chat(stage.gateway, { model: "dear", max_tokens: 10, messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) =>
        flood(stage, 5, attacker, { model: "dear", tags: ["team-blue"] }, signal, refused),
      refusal: /The tag .*team-blue.* belongs to other keys/,
    };
  },
  async fresh_tags(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    let session = 0;
    return {
      // Eight new tags a second at most; the victim brings one in three requests.
      victim: () =>
        chat(
          stage.gateway,
          {
            model: "dear",
            max_tokens: 10,
            tags: [`session-${Math.floor(session++ / 3)}`],
            messages: MESSAGES,
          },
          keyed(victim),
        ),
      attack: (signal, refused) =>
        again(signal, 50, async (turn) => {
          const tags = Array.from({ length: 60 }, (_, n) => `fresh-${turn}-${n}`);
          const response = await chat(
            stage.gateway,
            { model: "dear", max_tokens: 10, tags, messages: MESSAGES },
            keyed(attacker),
          );
          const text = await response.text();
          if (response.status >= 400) refused(text);
        }),
      refusal: /names new tags faster/,
    };
  },
  async latency(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("near", { kind: "reply", delayMs: 20 });
    stage.upstream.script("far", { kind: "reply", delayMs: 600 });
    stage.upstream.script("attacker", { kind: "reply", delayMs: 3_000 });
    return {
      victim: () => chat(stage.gateway, { model: "nearest", messages: MESSAGES }, keyed(victim)),
      attack: (signal) =>
        flood(stage, 1, attacker, { model: "nearest", user: "attacker" }, signal, () => undefined),
      refusal: undefined,
    };
  },
  async explanations(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("failing", { kind: "error", status: 502 });
    const failed = await chat(
      stage.gateway,
      { model: "other/failing", messages: MESSAGES },
      keyed(victim),
    );
    await failed.text();
    const id = failed.headers.get("x-request-id") ?? "";
    return {
      async victim() {
        const response = await admin(stage.gateway, `/requests/${id}`);
        const explained = (await response.json()) as { readonly steps?: unknown };
        return Array.isArray(explained.steps)
          ? new Response("")
          : new Response("no steps", { status: 599 });
      },
      attack: (signal, refused) =>
        Promise.all(
          Array.from({ length: 8 }, () =>
            again(signal, 1, async () => {
              const response = await chat(
                stage.gateway,
                { model: "no-such-model", messages: MESSAGES },
                keyed(attacker),
              );
              refused(await response.text());
            }),
          ),
        ),
      refusal: /model/,
    };
  },
  async window(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("attacker", { kind: "hang" });
    const asked = { model: "minute", stream: true, max_tokens: 1_900_000, user: "attacker" };
    return {
      victim: () =>
        chat(stage.gateway, { model: "minute", max_tokens: 50, messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) => flood(stage, 5, attacker, asked, signal, refused),
      refusal: /limit of 2000000 tokens while other keys use it/,
    };
  },
  async unread(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    // Written once: the upstream's own work would hold up the victim's calls.
    stage.upstream.script("large", {
      kind: "bytes",
      contentType: "application/json",
      body: wholeReply("x".repeat(2_000_000)),
    });
    return {
      victim: () => chat(stage.gateway, { model: "up/good", messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) =>
        Promise.all(
          Array.from({ length: 80 }, async () => {
            const response = await chat(
              stage.gateway,
              { model: "up/large", messages: MESSAGES },
              keyed(attacker, signal),
            );
            // A reply that is served is not read until the end.
            if (response.status >= 400) refused(await response.text());
            await pause(SECONDS * 2_000, undefined, { signal }).catch(() => undefined);
          }),
        ),
      refusal: /max_held/,
    };
  },
  async queue_of_team(stage) {
    const { team_id } = (await (await admin(stage.gateway, "/team/new", {})).json()) as {
      team_id: string;
    };
    const [attacker, victim] = [await stage.newKey({ team_id }), await stage.newKey({ team_id })];
    stage.upstream.script("slow", { kind: "hang" });
    return {
      victim: () => chat(stage.gateway, { model: "up/good", messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) =>
        flood(stage, 140, attacker, { model: "up/slow" }, signal, refused),
      refusal: /This key has|in_flight_share/,
    };
  },
};

/** A reply of the reference API, as its text. */
function wholeReply(content: string): string {
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return JSON.stringify({
    id: "chatcmpl-large",
    object: "chat.completion",
    created: 1,
    model: "large",
    choices,
    usage,
  });
}

interface Seen {
  readonly p99Ms: number;
  readonly failed: number;
  readonly count: number;
}

/** The victim's requests for some seconds. */
async function watch(ask: () => Promise<Response>): Promise<Seen> {
  const times: number[] = [];
  let failed = 0;
  const all: Promise<void>[] = [];
  const untilMs = performance.now() + SECONDS * 1_000;
  while (performance.now() < untilMs) {
    const sinceMs = performance.now();
    all.push(
      ask()
        .then(async (response) => {
          await response.text();
          if (response.status !== 200) failed += 1;
          times.push(performance.now() - sinceMs);
        })
        .catch(() => void (failed += 1)),
    );
    await pause(EVERY_MS);
  }
  await Promise.all(all);
  const sorted = times.toSorted((a, b) => a - b);
  return { p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0, failed, count: all.length };
}

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
  const newKey = async (body: object = {}): Promise<string> =>
    ((await (await admin(gateway, "/key/generate", body)).json()) as { key: string }).key;
  const addModel = (model: string): void => workspace.write(fileOf([...options.models, model]));
  try {
    const {
      victim,
      attack,
      refusal,
      settleMs = 500,
    } = await row({ gateway, upstream, serviceUrl: service.url, newKey, addModel });
    await watch(victim);
    const quiet = await watch(victim);
    const end = new AbortController();
    const refusals: string[] = [];
    const attacking = attack(end.signal, (text) => refusals.push(text)).catch(() => undefined);
    await pause(settleMs);
    const loop = monitorEventLoopDelay({ resolution: 5 });
    loop.enable();
    const during = await watch(victim);
    loop.disable();
    end.abort();
    await attacking;
    const isNamed = refusal === undefined || refusals.some((text) => refusal.test(text));
    if (!isNamed)
      console.info(
        `Refusals of ${name}: ${refusals.length}; the first: ${refusals[0]?.slice(0, 300) ?? "none"}`,
      );
    const isWell =
      during.failed === 0 && during.p99Ms <= Math.max(NOISE_MS, 2 * quiet.p99Ms) && isNamed;
    const named = refusal === undefined ? "loses its own" : isNamed ? "yes" : "NO";
    console.info(
      `| ${name} | ${quiet.p99Ms.toFixed(1)} | ${during.p99Ms.toFixed(1)} | ${during.failed} of ${during.count} | ${named} | ${(loop.max / 1e6).toFixed(0)} | ${isWell ? "ok" : "FAILED"} |`,
    );
    return isWell;
  } finally {
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

const all: Readonly<Record<string, Row>> = { ...rows, ...MORE_ROWS, ...LATER_ROWS };
const chosen = values.rows === "" ? Object.keys(all) : values.rows.split(",");
console.info(
  "| Row | p99 quiet, ms | p99 attacked, ms | Victim's failures | Attacker refused by name | Longest turn of the proof's own loop, ms | |\n|---|---|---|---|---|---|---|",
);
let isWell = true;
for (const name of chosen) {
  const row = all[name];
  if (row === undefined)
    throw new Error(`There is no row ${name}; there are ${Object.keys(all).join(", ")}.`);
  isWell = (await run(name, row)) && isWell;
}
process.exitCode = isWell ? 0 : 1;
