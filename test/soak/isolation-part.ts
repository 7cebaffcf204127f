/** A part of `proof:isolation`: prepares a row with the keys that it is given, then obeys orders. */

import { setPriority } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { UpstreamScript } from "@sluice/testing";
import type { GatewayProcess } from "../system/support/gateway-process.ts";
import { CoreWaits } from "./core-waits.ts";
import { FIRST_ROWS, MORE_ROWS } from "./isolation-first-rows.ts";
import type { Order, PartStart, Refusals, Said, Seen } from "./isolation-parts.ts";
import { LATER_ROWS } from "./isolation-rows.ts";
import { type Attack, EVERY_MS, type Row, SECONDS } from "./isolation-stage.ts";

const ROWS: Readonly<Record<string, Row>> = { ...FIRST_ROWS, ...MORE_ROWS, ...LATER_ROWS };
const LOWEST_PRIORITY = 19;
/** How long the innocent load computes before it looks for orders, in milliseconds. */
const BURN_MS = 20;

const say = (said: Said): void => void process.send?.(said);

const p99 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;

/** The victim's requests for some seconds. */
async function watch(ask: () => Promise<Response>, waits: CoreWaits): Promise<Seen> {
  const times: number[] = [];
  const ownTimes: number[] = [];
  let failed = 0;
  const all: Promise<void>[] = [];
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  const untilMs = performance.now() + SECONDS * 1_000;
  while (performance.now() < untilMs) {
    const sinceMs = performance.now();
    const waited = waits.read();
    all.push(
      ask()
        .then(async (response) => {
          await response.text();
          if (response.status !== 200) failed += 1;
          const tookMs = performance.now() - sinceMs;
          times.push(tookMs);
          ownTimes.push(Math.max(0, tookMs - waits.since(waited)));
        })
        .catch(() => void (failed += 1)),
    );
    await pause(EVERY_MS);
  }
  await Promise.all(all);
  loop.disable();
  const seen = { failed, count: all.length, loopMs: loop.max / 1e6 };
  return { ...seen, p99Ms: p99(times), ownP99Ms: p99(ownTimes) };
}

/** An attack that can be ended. */
class Attacking {
  readonly #end = new AbortController();
  readonly #refusals: string[] = [];
  readonly #attack: Attack;
  readonly #done: Promise<unknown>;

  constructor(attack: Attack) {
    this.#attack = attack;
    this.#done = attack
      .attack(this.#end.signal, (text) => this.#refusals.push(text))
      .catch(() => undefined);
  }

  async end(): Promise<Refusals> {
    this.#end.abort();
    await this.#done;
    const { refusal } = this.#attack;
    const isNamed = refusal === undefined || this.#refusals.some((text) => refusal.test(text));
    return { isNamed, count: this.#refusals.length, first: this.#refusals[0]?.slice(0, 300) };
  }
}

let row: Attack | undefined;
let attacking: Attacking | undefined;
let waits: CoreWaits | undefined;
const innocent = { isBurning: false };

async function start({ row: name, role, gateway, serviceUrl, keys }: PartStart): Promise<void> {
  if (role === "attacker") setPriority(LOWEST_PRIORITY);
  waits = new CoreWaits(gateway.pid);
  const left = [...keys];
  let isPrepared = false;
  const script = (...args: unknown[]): void => {
    // The proof itself prepares the upstream.
    if (isPrepared) say({ script: args as [string, ...UpstreamScript[]] });
  };
  row = await ROWS[name]?.({
    gateway: gateway as GatewayProcess,
    upstream: { script },
    serviceUrl,
    newKey: async () => left.shift() ?? "",
    addModel: () => undefined,
  });
  isPrepared = true;
}

async function burn(): Promise<void> {
  innocent.isBurning = true;
  while (innocent.isBurning) {
    const untilMs = performance.now() + BURN_MS;
    while (performance.now() < untilMs);
    await nextTurn();
  }
}

async function obey(order: Order): Promise<Said> {
  if (typeof order === "object") await start(order);
  else if (order === "watch" && row !== undefined && waits !== undefined)
    return { seen: await watch(row.victim, waits) };
  else if (order === "burn") void burn();
  else if (order === "rest") innocent.isBurning = false;
  else if (order === "attack" && row !== undefined) attacking = new Attacking(row);
  else if (attacking !== undefined) return { refusals: await attacking.end() };
  return "done";
}

process.on("message", (order: Order) => void obey(order).then(say));
