/** Shared state in memory for several workers: the supervising process holds it, and they ask over their channel. */

import type { StateDriver } from "@sluice/spec";

/** A question of a worker: the path of a method, and its arguments. */
export interface StateQuestion {
  readonly type: "state";
  readonly id: number;
  readonly method: StateMethod;
  readonly args: readonly unknown[];
}

/** The answer to it. */
export interface StateAnswer {
  readonly type: "state";
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

const METHODS = [
  "take",
  "settle",
  "renew",
  "seed",
  "read",
  "reset",
  "cache.get",
  "cache.set",
  "cache.delete",
  "cache.purge",
  "records.begin",
  "records.complete",
  "records.abandon",
] as const;
type StateMethod = (typeof METHODS)[number];

/** The other process answers at once or is stalled: then whoever asks goes on alone. */
const ANSWER_MS = 1_000;

/** Answers one question from a driver. Never rejects. */
export async function answerState(driver: StateDriver, { id, method, args }: StateQuestion): Promise<StateAnswer> {
  try {
    const [first, second] = method.split(".") as [keyof StateDriver, string | undefined];
    const owner = (second === undefined ? driver : driver[first]) as unknown as Record<string, (...args: unknown[]) => unknown>;
    return { type: "state", id, value: await owner[second ?? first]?.(...args) };
  } catch (error) {
    return { type: "state", id, error: error instanceof Error ? error.message : String(error) };
  }
}

/** The driver of a worker. Its calls reject when no answer comes within a second. */
export interface HostedState {
  readonly driver: StateDriver;
  /** Takes an answer. */
  receive(answer: StateAnswer): void;
}

/** Makes the driver of a worker; `send` carries its questions. */
export function createHostedState(send: (question: StateQuestion) => void): HostedState {
  const waiting = new Map<number, { readonly promise: PromiseWithResolvers<unknown>; readonly timer: NodeJS.Timeout }>();
  let lastId = 0;
  const ask =
    <T>(method: StateMethod) =>
    (...args: readonly unknown[]): Promise<T> => {
      const promise = Promise.withResolvers<unknown>();
      const id = ++lastId;
      const timer = setTimeout(() => {
        waiting.delete(id);
        promise.reject(new Error("the supervising process did not answer"));
      }, ANSWER_MS);
      waiting.set(id, { promise, timer });
      send({ type: "state", id, method, args });
      return promise.promise as Promise<T>;
    };
  const driver: StateDriver = {
    take: ask("take"),
    settle: ask("settle"),
    renew: ask("renew"),
    seed: ask("seed"),
    read: ask("read"),
    reset: ask("reset"),
    cache: { get: ask("cache.get"), set: ask("cache.set"), delete: ask("cache.delete"), purge: ask("cache.purge") },
    records: { begin: ask("records.begin"), complete: ask("records.complete"), abandon: ask("records.abandon") },
    start: async () => {},
    async stop() {
      for (const { promise, timer } of waiting.values()) {
        clearTimeout(timer);
        promise.reject(new Error("the gateway stops"));
      }
      waiting.clear();
    },
  };
  return {
    driver,
    receive({ id, value, error }) {
      const question = waiting.get(id);
      if (question === undefined) return;
      waiting.delete(id);
      clearTimeout(question.timer);
      if (error === undefined) question.promise.resolve(value);
      else question.promise.reject(new Error(error));
    },
  };
}
