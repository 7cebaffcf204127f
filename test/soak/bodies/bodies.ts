/**
 * Proof: hostile bodies of one key neither end a gateway with a heap of 512 MB nor hurt another
 * key. `npm run proof:bodies`; `-- --only deep`, `-- --key rpm`, `-- --seconds 20`. Linux only:
 * memory is read from `/proc`. Upstream, victim and attacker are processes of their own. An attack
 * is repeated for as long as the victim is watched. A row that is over its goal only because the
 * gateway's serving thread waited for a core (core-waits.ts) says so. Exits with 1 where a goal is
 * missed.
 */

import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createKey } from "../../system/support/client.ts";
import { eventually } from "../../system/support/eventually.ts";
import { type GatewayProcess, startGateway } from "../../system/support/gateway-process.ts";
import { DEFAULT_MODELS } from "../../system/support/workspace.ts";
import type { Seen } from "../victim.ts";
import type { AttackerOrder, AttackerSaid } from "./attacker.ts";
import { ATTACKS } from "./attacks.ts";
import { Part } from "./part.ts";
import type { UpstreamSaid } from "./upstream.ts";
import type { VictimOrder } from "./victim.ts";

const { values } = parseArgs({
  options: {
    /** Attacks whose name holds it. */
    only: { type: "string", default: "" },
    /** Attacking keys whose limits hold it. */
    key: { type: "string", default: "" },
    /** How long the victim is watched, without and with the attack. */
    seconds: { type: "string", default: "8" },
  },
});
const HEAP_MB = 512;
const MAX_RSS_MB = 700;
const MAX_TURN_MS = 50;
/** The machine's own noise. */
const NOISE_MS = 20;
const WARM_UP_SECONDS = 5;
/** The attack's own begin: connections and first pieces. */
const SETTLE_MS = 300;
const RSS_EVERY_MS = 25;
const SECONDS = Number(values.seconds);
const KEYS = [
  ["rpm 1", { rpm_limit: 1 }],
  ["no limits", {}],
] as const;

const upstream = new Part<object, UpstreamSaid>("upstream.ts");
const victim = new Part<VictimOrder, Seen>("victim.ts");
const attacker = new Part<AttackerOrder, AttackerSaid>("attacker.ts");

function rssMb(pid: number): number {
  const [, kilobytes = "0"] =
    /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}

/** The longest turn since the last time this was asked, in milliseconds of CPU. */
async function longestTurnMs(gateway: GatewayProcess): Promise<number> {
  const from = gateway.stderr.length;
  gateway.signal("SIGUSR2");
  const line = await eventually(
    "the loop probe",
    () => /^loop (.*)$/m.exec(gateway.stderr.slice(from))?.[1],
  );
  return (JSON.parse(line) as { mostMs: number }).mostMs;
}

/** One attack by a new key. Returns whether every goal is met. */
async function row(
  gateway: GatewayProcess,
  watched: Omit<VictimOrder, "seconds">,
  index: number,
  [limits, fields]: (typeof KEYS)[number],
): Promise<boolean> {
  const { key } = await createKey(gateway, fields);
  await attacker.ask({ todo: "burn" });
  const quiet = await victim.ask({ ...watched, seconds: SECONDS });
  await attacker.ask({ todo: "rest" });
  await longestTurnMs(gateway);
  let peakMb = rssMb(gateway.pid);
  const watch = setInterval(() => (peakMb = Math.max(peakMb, rssMb(gateway.pid))), RSS_EVERY_MS);
  await attacker.ask({ todo: "attack", url: gateway.publicUrl, key, index });
  await pause(SETTLE_MS);
  const beside = await victim.ask({ ...watched, seconds: SECONDS });
  const replies = await attacker.ask({ todo: "end" });
  clearInterval(watch);
  const turnMs = await longestTurnMs(gateway);
  const goalMs = Math.max(NOISE_MS, 2 * quiet.p99Ms);
  const isBounded = peakMb <= MAX_RSS_MB && turnMs <= MAX_TURN_MS && beside.failed === 0;
  const isWell = isBounded && beside.p99Ms <= goalMs;
  const isMachine = isBounded && beside.ownP99Ms <= goalMs;
  const outcome = isWell ? "ok" : isMachine ? "over, by waits for a core" : "FAILED";
  const statuses = Object.entries(replies).map(([status, count]) => `${count} × ${status}`);
  console.info(
    `| ${ATTACKS[index]?.[0]} | ${limits} | ${statuses.join(", ")} | ${peakMb.toFixed(0)} | ${turnMs.toFixed(1)} | ${quiet.p99Ms.toFixed(1)} | ${beside.p99Ms.toFixed(1)} | ${beside.ownP99Ms.toFixed(1)} | ${beside.failed} of ${beside.count} | ${outcome} |`,
  );
  return isWell;
}

async function prove(): Promise<boolean> {
  const { url } = await upstream.ask({});
  const probe = new URL("../loop-probe.ts", import.meta.url).pathname;
  const gateway = await startGateway(
    {
      baseUrl: `${url}/v1`,
      providers: ["anthropic", "gemini"].map(
        (name) => `${name}: { use: ${name}, api_key: "\${env:SOME_KEY}", base_url: ${url} }`,
      ),
      models: [
        ...DEFAULT_MODELS,
        "{ id: claude, targets: [{ provider: anthropic, model: claude-sonnet-4-5 }] }",
        "{ id: gemini, targets: [{ provider: gemini, model: gemini-2.5-flash }] }",
      ],
    },
    {
      SOME_KEY: "a-credential-of-the-tests-0123456789",
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB} --import ${probe}`,
    },
  );
  try {
    const { key } = await createKey(gateway, {});
    const watched = { gateway: { pid: gateway.pid, publicUrl: gateway.publicUrl }, key };
    await victim.ask({ ...watched, seconds: WARM_UP_SECONDS });
    let isWell = true;
    for (const limited of KEYS) {
      for (const [index, [name]] of ATTACKS.entries()) {
        if (!name.includes(values.only) || !limited[0].includes(values.key)) continue;
        isWell = (await row(gateway, watched, index, limited)) && isWell;
      }
    }
    return isWell;
  } finally {
    await gateway.dispose();
  }
}

console.info(
  "Quiet: the victim beside a process of lowest priority that computes and sends nothing. Attacked: that process attacks.\n\n| Attack | Its key | Replies | RSS, MB | Longest turn, ms of CPU | p99 quiet, ms | p99 attacked, ms | The same without the gateway's waits for a core | Victim's failures | |\n|---|---|---|---|---|---|---|---|---|---|",
);
let isWell = false;
try {
  isWell = await prove();
} finally {
  await Promise.all([upstream.close(), victim.close(), attacker.close()]);
}
process.exitCode = isWell ? 0 : 1;
