import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Reservation } from "@sluice/contract";
import { fakeClock, fakeState } from "@sluice/testing";
import {
  createRemoteState,
  createStateHost,
  type RemoteState,
  type StateHost,
  type StateQuestion,
} from "./shared-state-rpc.ts";

const reservation: Reservation = {
  id: "r",
  claims: [{ kind: "window", key: "w", limit: 1, windowMs: 60_000, amount: 1 }],
};
const newOwner = () => ({
  ...fakeState(fakeClock()),
  start: async () => {},
  stop: async () => {},
});
let owner = newOwner();

beforeEach(() => {
  owner = newOwner();
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

/** The state of a worker whose questions reach `owner` as copies, as those between processes do. */
function connected(host: StateHost = createStateHost(owner)): RemoteState {
  const hosted = createRemoteState((question) => {
    void host
      .answer(structuredClone(question))
      .then((answer) => hosted.receive(structuredClone(answer)));
  });
  return hosted;
}

describe("shared state that another process holds", () => {
  it("decides once for two workers", async () => {
    const [first, second] = [connected().driver, connected().driver];
    expect(await first.take(reservation, 1_000)).toMatchObject({ outcome: "granted" });
    expect(await second.take({ ...reservation, id: "s" }, 1_000)).toMatchObject({
      outcome: "refused",
      failedIndex: 0,
    });
  });

  it("carries bytes and records", async () => {
    const { driver } = connected();
    expect(await driver.cache.set("k", Uint8Array.of(1, 2), 1_000)).toBe(true);
    expect(await connected().driver.cache.get("k")).toEqual(Uint8Array.of(1, 2));
    expect(await driver.records.begin("id", "digest", "me", 1_000)).toEqual({ outcome: "new" });
    expect(await connected().driver.records.begin("id", "digest", "you", 1_000)).toEqual({
      outcome: "running",
    });
  });

  it("gives back what a worker that is gone had not settled, and nothing of the others", async () => {
    const gone = createStateHost(owner);
    const [first, second] = [connected(gone).driver, connected().driver];
    const slot = (id: string): Reservation => ({
      id,
      claims: [{ kind: "concurrent", key: "slots", limit: 3 }],
    });
    await first.take(slot("kept"), 1_000);
    await first.take(slot("settled"), 1_000);
    await first.settle(slot("settled"));
    await second.take(slot("other"), 1_000);
    await first.records.begin("repeat", "digest", "me", 1_000);
    expect(await second.records.begin("repeat", "digest", "you", 1_000)).toEqual({
      outcome: "running",
    });
    gone.release();
    expect(await second.read(["slots"])).toMatchObject([{ inFlight: 1 }]);
    expect(await second.records.begin("repeat", "digest", "you", 1_000)).toEqual({
      outcome: "new",
    });
  });

  it("counts the money of a worker that is gone: its calls have rows of that cost", async () => {
    const gone = createStateHost(owner);
    const [first, second] = [connected(gone).driver, connected().driver];
    const money = (id: string): Reservation => ({
      id,
      claims: [
        { kind: "budget", key: "money", limitNanoUsd: 10, amountNanoUsd: 4, resetsAtMs: null },
      ],
    });
    await first.seed("money", 0);
    await first.take(money("kept"), 1_000);
    await first.take(money("settled"), 1_000);
    await first.settle({
      id: "settled",
      claims: [
        { kind: "budget", key: "money", limitNanoUsd: 10, amountNanoUsd: 1, resetsAtMs: null },
      ],
    });
    gone.release();
    expect(await second.read(["money"])).toMatchObject([{ spentNanoUsd: 5, reservedNanoUsd: 0 }]);
  });

  it("rejects when no answer comes within a second, when the owner fails and when it stops", async () => {
    const questions: StateQuestion[] = [];
    const { driver, receive } = createRemoteState((question) => void questions.push(question));
    const late = Promise.resolve(driver.read(["a"]));
    late.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(1_001);
    await expect(late).rejects.toThrow("did not answer");
    const failing = Promise.resolve(driver.read(["a"]));
    receive({ type: "state", id: questions.at(-1)?.id ?? 0, error: "it fails" });
    await expect(failing).rejects.toThrow("it fails");
    const stopped = Promise.resolve(driver.read(["a"]));
    const ended = driver.stop();
    await expect(stopped).rejects.toThrow("stops");
    await ended;
  });
});
