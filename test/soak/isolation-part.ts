/**
 * A part of `proof:isolation`: prepares a row with the keys that it is given, then obeys orders.
 */

import { setPriority } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { UpstreamScript } from "@sluice/testing";
import type { GatewayProcess } from "../system/support/gateway-process.ts";
import { CoreWaits } from "./core-waits.ts";
import { FIRST_ROWS, MORE_ROWS } from "./isolation-first-rows.ts";
import type { Order, PartStart, Refusals, Said } from "./isolation-parts.ts";
import { LATER_ROWS } from "./isolation-rows.ts";
import { type Attack, type Row, SECONDS } from "./isolation-stage.ts";
import { watchVictim } from "./victim.ts";

const ROWS: Readonly<Record<string, Row>> = { ...FIRST_ROWS, ...MORE_ROWS, ...LATER_ROWS };
const LOWEST_PRIORITY = 19;
/** How long the innocent load computes before it looks for orders, in milliseconds. */
const BURN_MS = 20;

const say = (said: Said): void => void process.send?.(said);

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
    return { seen: await watchVictim(row.victim, waits, SECONDS) };
  else if (order === "burn") void burn();
  else if (order === "rest") innocent.isBurning = false;
  else if (order === "attack" && row !== undefined) attacking = new Attacking(row);
  else if (attacking !== undefined) return { refusals: await attacking.end() };
  return "done";
}

process.on("message", (order: Order) => void obey(order).then(say));
