/** Samples of reported usage: they adjust the estimates for each model family. */

import type { Clock, Exchange } from "@sluice/contract";
import { countPrompt, promptParts } from "@sluice/runtime/openai";
import type { EstimateParts } from "./estimate.ts";

/** Of the exchanges of a key with a model one of this many is counted, the first one included. */
const EVERY = 32;
/** The time between two counts of a model, on average: a count costs 0.1 ms per KB. */
const PAUSE_MS = 250;
/** A key that had no count for this time is counted before the pause has ended. */
const RARE_MS = 8_000;
/** The sum of the pauses that such keys skip: eight of them at most. */
const MAX_AHEAD_MS = 2_000;
/** Keys remembered, each with each of its models. Beyond it all are forgotten. */
const MAX_SEEN = 10_000;
/** Longer prompts are left out: they tell no more about a family than short ones. */
const MAX_CHARACTERS = 65_536;

/** What is known of a key's exchanges with a model. */
interface Seen {
  exchanges: number;
  countedMs: number;
}

/** What is known of a model's exchanges. */
interface SeenModel {
  readonly byKey: Map<string, Seen>;
  /** The pauses after the counts so far end at this moment. */
  againMs: number;
}

/**
 * Looks at a settled exchange. Whatever it does is done behind the reply, and what fails is
 * forgotten.
 */
export type UsageSampler = (exchange: Exchange) => void;

/**
 * The turns of keys to have a prompt counted, for each model. A key with few requests has its turn
 * beside one with very many.
 */
class Turns {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #byModel = new Map<string, SeenModel>();
  #size = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Whether an exchange is to be counted. */
  isDue(model: string, keyId: string): boolean {
    let ofModel = this.#byModel.get(model);
    let seen = ofModel?.byKey.get(keyId);
    if (ofModel === undefined || seen === undefined) {
      if (this.#size >= MAX_SEEN) this.#forgetAll();
      this.#size += 1;
      ofModel = this.#byModel.get(model) ?? { byKey: new Map(), againMs: -Infinity };
      ofModel.byKey.set(keyId, (seen = { exchanges: 0, countedMs: -Infinity }));
      this.#byModel.set(model, ofModel);
    }
    return seen.exchanges++ % EVERY === 0 && this.#takes(ofModel, seen);
  }

  #takes(ofModel: SeenModel, seen: Seen): boolean {
    const nowMs = this.#clock.monotonic();
    const aheadMs = nowMs - seen.countedMs < RARE_MS ? 0 : MAX_AHEAD_MS;
    if (ofModel.againMs - nowMs > aheadMs) return false;
    seen.countedMs = nowMs;
    ofModel.againMs = Math.max(ofModel.againMs, nowMs) + PAUSE_MS;
    return true;
  }

  #forgetAll(): void {
    this.#byModel.clear();
    this.#size = 0;
  }
}

/**
 * A sampler. It counts the prompts of chat exchanges that other makers' models answered, with a
 * usage of their own.
 */
export function createUsageSampler(
  { tokens, factors }: EstimateParts,
  clock: Pick<Clock, "monotonic">,
): UsageSampler {
  const turns = new Turns(clock);
  return (exchange) => {
    const attempt = exchange.attempts.at(-1);
    if (
      exchange.operation !== "chat" ||
      attempt?.outcome !== "success" ||
      attempt.usageSource !== "provider"
    )
      return;
    const { usage, target } = attempt;
    const body = exchange.request?.document;
    if (usage === undefined || body === undefined || !factors.isLearnt(target.model)) return;
    const keyId = exchange.identity?.keyId ?? "";
    if (!turns.isDue(target.model, keyId)) return;
    const count = async (): Promise<void> => {
      const parts = promptParts(body.value);
      const characters = parts.texts.reduce((total, { length }) => total + length, 0);
      if (!parts.exact || characters > MAX_CHARACTERS) return;
      const counted = await countPrompt(body.value, tokens);
      if (!counted.exact) return;
      const report = { reported: usage.promptTokens, counted: counted.tokens };
      factors.observe(target.model, keyId, report);
    };
    setImmediate(() => void count().catch(() => undefined));
  };
}
