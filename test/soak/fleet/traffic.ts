/**
 * The load of the proof: whole and streamed requests of all keys, sent to gateways that are ready, as
 * a load balancer does.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { Gateway } from "./gateways.ts";
import type { ProofKeys, Unit } from "./units.ts";

/** Budgets that are spent at the same time. */
const ACTIVE = 8;
/** Refusals after which a budget counts as spent; it is asked now and then from there on. */
const REFUSALS = 10;
const TIMEOUT_MS = 30_000;
/** A request that was under way at a kill ends within this time. */
const SLACK_MS = 1_000;
/** A 503 says when to repeat. Official clients do that twice. */
const REPEATS = 2;
/** A load balancer asks each gateway this often whether it is ready. */
const PROBE_MS = 1_000;
/** Requests at once before the load begins. */
const WARM_AT_ONCE = 8;

/** What became of one request. */
export interface Outcome {
  readonly id: string;
  readonly unit: Unit | undefined;
  readonly result: "served" | "refused" | "killed" | "failed";
  /** How often it was repeated after a 503. */
  readonly repeats: number;
  /** Of a failure. */
  readonly reason?: string;
  /** The gateway that was asked last. */
  readonly gateway: string;
  /** Its begin and its end, on the clock of `performance.now`. */
  readonly startedMs: number;
  readonly endedMs: number;
}

/** Sends requests. */
export class Traffic {
  readonly outcomes: Outcome[] = [];
  readonly #gateways: readonly Gateway[];
  readonly #keys: ProofKeys;
  readonly #refusals = new Map<Unit, number>();
  readonly #active: Unit[] = [];
  /** Gateways that were ready when they were last asked. */
  #ready: readonly Gateway[];
  #next = 0;
  #serial = 0;
  #isOver = false;

  constructor(gateways: readonly Gateway[], keys: ProofKeys) {
    this.#gateways = gateways;
    this.#ready = gateways;
    this.#keys = keys;
  }

  /** Budgets that were spent so far. */
  get spent(): number {
    return this.#next - this.#active.length;
  }

  /** Sends one request for each budget: it is read from the ledger then. */
  async warm(): Promise<void> {
    const units = this.#keys.units.values();
    await Promise.all(
      Array.from({ length: WARM_AT_ONCE }, async () => {
        for (const unit of units) await this.#sendOne({ key: unit.keys[0]!, unit });
      }),
    );
  }

  /** Sends so many requests a second until `stop`; resolves when all have ended. */
  async run(rate: number): Promise<void> {
    const running = new Set<Promise<void>>([this.#probe()]);
    const startedMs = performance.now();
    for (let sent = 0; !this.#isOver; sent += 1) {
      const one = this.#sendOne().finally(() => running.delete(one));
      running.add(one);
      await pause(Math.max(0, startedMs + ((sent + 1) * 1_000) / rate - performance.now()));
    }
    await Promise.all(running);
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Asks the gateways until `stop` whether they are ready. */
  async #probe(): Promise<void> {
    while (!this.#isOver) {
      const asked = this.#gateways.map(async (one) => ((await one.isReady()) ? [one] : []));
      this.#ready = (await Promise.all(asked)).flat();
      await pause(PROBE_MS);
    }
  }

  async #sendOne({ key, unit } = this.#choose()): Promise<void> {
    const id = `q${(this.#serial += 1)}`;
    const body = JSON.stringify({
      model: "chat",
      user: id,
      stream: this.#serial % 3 === 0,
      max_tokens: 20,
      messages: [{ role: "user", content: "Say something." }],
    });
    const outcome = await this.#send(id, unit, key, body);
    this.outcomes.push(outcome);
    if (unit !== undefined && outcome.result === "refused") this.#refused(unit);
  }

  /** Sends it to a gateway that is up. One that refuses the connection got nothing. */
  async #send(id: string, unit: Unit | undefined, key: string, body: string): Promise<Outcome> {
    const begunMs = performance.now();
    let repeats = 0;
    let asked = "";
    const outcome = (ended: Pick<Outcome, "result" | "reason">): Outcome => {
      const endedMs = performance.now();
      return { id, unit, repeats, gateway: asked, startedMs: begunMs, endedMs, ...ended };
    };
    for (let tries = 0; tries < 100; tries += 1) {
      const up = this.#ready.filter(({ isUp }) => isUp);
      const gateway = up[Math.floor(Math.random() * up.length)];
      if (gateway === undefined) {
        await pause(100);
        continue;
      }
      asked = gateway.name;
      const startedMs = performance.now();
      try {
        const { repeatAfterMs, ...answer } = await ask(gateway, key, body);
        if (repeatAfterMs === undefined || repeats === REPEATS) return outcome(answer);
        repeats += 1;
        await pause(repeatAfterMs);
      } catch (error) {
        if (isUnsent(error)) continue;
        const endedMs = performance.now() + SLACK_MS;
        const wasKilled = gateway.killedAtMs.some((at) => at >= startedMs && at <= endedMs);
        return outcome(
          wasKilled ? { result: "killed" } : { result: "failed", reason: reasonOf(error) },
        );
      }
    }
    return outcome({ result: "failed", reason: "no gateway was up" });
  }

  #choose(): { readonly key: string; readonly unit: Unit | undefined } {
    const { units, free, windowed } = this.#keys;
    while (this.#active.length < ACTIVE && this.#next < units.length)
      this.#active.push(units[this.#next++]!);
    const dice = Math.random();
    if (dice < 0.15) return { key: oneOf(free), unit: undefined };
    if (dice < 0.25) return { key: oneOf(windowed), unit: undefined };
    const spent = units.slice(0, this.#next);
    const unit = dice < 0.3 || this.#active.length === 0 ? oneOf(spent) : oneOf(this.#active);
    return { key: oneOf(unit.keys), unit };
  }

  #refused(unit: Unit): void {
    const count = (this.#refusals.get(unit) ?? 0) + 1;
    this.#refusals.set(unit, count);
    const at = this.#active.indexOf(unit);
    if (count >= REFUSALS && at !== -1) this.#active.splice(at, 1);
  }
}

async function ask(
  { publicUrl }: Gateway,
  key: string,
  body: string,
): Promise<Pick<Outcome, "result" | "reason"> & { readonly repeatAfterMs?: number }> {
  const answer = await fetch(`${publicUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await answer.text();
  const { status } = answer;
  if (status === 429) return { result: "refused" };
  const isWhole = text.endsWith("data: [DONE]\n\n") || text.endsWith("}");
  if (status === 200 && isWhole && !text.includes('"error"')) return { result: "served" };
  const failed = { result: "failed", reason: `${status} ${text.slice(-300)}` } as const;
  return status === 503
    ? { ...failed, repeatAfterMs: Number(answer.headers.get("retry-after") ?? 1) * 1_000 }
    : failed;
}

function isUnsent(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  return cause?.code === "ECONNREFUSED";
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { readonly cause?: { readonly code?: string } };
  return `${message} ${cause?.code ?? ""}`;
}

function oneOf<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)]!;
}
