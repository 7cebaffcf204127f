/**
 * Shared state in memory for several workers: the supervising process holds it, and they ask over
 * their channel.
 */

import {
  errorMessage,
  type Reservation,
  type StateDriver,
  type TakeResult,
} from "@sluice/contract";
import { waitForAnswer } from "@sluice/kit";

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

/**
 * The other process answers at once or is stalled; after this time the caller continues without it.
 */
const ANSWER_MS = 1_000;
/**
 * Maximum of tracked reservations, and of tracked records, of a worker. The oldest beyond it end
 * with their leases.
 */
const MAX_HELD = 50_000;

/** The state as one worker has it: its questions are answered, and what it holds is known. */
export interface StateHost {
  /** Answers one question. Never rejects. */
  answer(question: StateQuestion): Promise<StateAnswer>;
  /**
   * Ends what an ended worker took and did not settle: slots are free, money is spent, counts of
   * windows expire by themselves. Without this the leases would hold it until they expire.
   */
  release(): void;
}

/** Makes the host of one worker's questions over the driver that all of them share. */
export function createStateHost(driver: StateDriver): StateHost {
  const reservations = new Map<string, Reservation>();
  /** The workers that began records, by the records' keys. */
  const records = new Map<string, string>();

  const note = ({ method, args }: StateQuestion, value: unknown): void => {
    if (method === "take") {
      const [reservation] = args as readonly [Reservation];
      if ((value as TakeResult).outcome === "granted")
        keep(reservations, reservation.id, reservation);
    } else if (method === "renew") {
      for (const reservation of (args as readonly [readonly Reservation[]])[0])
        keep(reservations, reservation.id, reservation);
    } else if (method === "settle") {
      reservations.delete((args as readonly [Reservation])[0].id);
    } else if (method === "records.begin") {
      const [key, , owner] = args as readonly [string, string, string];
      if ((value as { readonly outcome: string }).outcome === "new") keep(records, key, owner);
    } else if (method === "records.complete" || method === "records.abandon") {
      records.delete(args[0] as string);
    }
  };

  return {
    async answer(question) {
      const { id, method, args } = question;
      try {
        const [first, second] = method.split(".") as [keyof StateDriver, string | undefined];
        const owner = (second === undefined ? driver : driver[first]) as unknown as Record<
          string,
          (...args: unknown[]) => unknown
        >;
        const value = await owner[second ?? first]?.(...args);
        note(question, value);
        return { type: "state", id, value };
      } catch (error) {
        return { type: "state", id, error: errorMessage(error) };
      }
    },
    release() {
      // Money is spent in full: the row that is made of the note of such a call has that cost.
      for (const reservation of reservations.values()) void driver.settle(reservation);
      for (const [key, owner] of records) void driver.records.abandon(key, owner);
      reservations.clear();
      records.clear();
    },
  };
}

function keep<T>(held: Map<string, T>, key: string, value: T): void {
  held.set(key, value);
  if (held.size <= MAX_HELD) return;
  const [oldest = key] = held.keys();
  held.delete(oldest);
}

/**
 * The driver of a worker. Its calls reject when no answer comes within a second in which the worker
 * runs.
 */
export interface RemoteState {
  readonly driver: StateDriver;
  /** Takes an answer. */
  receive(answer: StateAnswer): void;
}

/** Makes the driver of a worker; `send` carries its questions. */
export function createRemoteState(send: (question: StateQuestion) => void): RemoteState {
  const waiting = new Map<
    number,
    { readonly promise: PromiseWithResolvers<unknown>; readonly endWait: () => void }
  >();
  let lastId = 0;
  const ask =
    <T>(method: StateMethod) =>
    (...args: readonly unknown[]): Promise<T> => {
      const promise = Promise.withResolvers<unknown>();
      const id = ++lastId;
      const endWait = waitForAnswer(ANSWER_MS, () => {
        waiting.delete(id);
        promise.reject(new Error("the supervising process did not answer"));
      });
      waiting.set(id, { promise, endWait });
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
    cache: {
      get: ask("cache.get"),
      set: ask("cache.set"),
      delete: ask("cache.delete"),
      purge: ask("cache.purge"),
    },
    records: {
      begin: ask("records.begin"),
      complete: ask("records.complete"),
      abandon: ask("records.abandon"),
    },
    start: async () => {},
    async stop() {
      for (const { promise, endWait } of waiting.values()) {
        endWait();
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
      question.endWait();
      if (error === undefined) question.promise.resolve(value);
      else question.promise.reject(new Error(error));
    },
  };
}
