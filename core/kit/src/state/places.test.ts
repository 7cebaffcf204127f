import { describe, expect, it, vi } from "vitest";
import type { Holder } from "./parts.ts";
import { type PlaceLimits, Places } from "./places.ts";

const LIMITS: PlaceLimits = { places: 4, queue: 4, waitMs: 1_000, what: "The provider up" };
const never = new AbortController().signal;
const A: Holder = { key: "a", team: undefined };
const B: Holder = { key: "b", team: undefined };
const C: Holder = { key: "c", team: undefined };

/** Takes places at once, as many as the holder may have. */
function fill(places: Places, holder: Holder, limits = LIMITS): number {
  let taken = 0;
  for (; places.hasRoom(holder, limits); taken += 1) places.take(holder);
  return taken;
}

/** Waits, and says how it ended. */
function outcome(places: Places, holder: Holder): { state: unknown } {
  const seen: { state: unknown } = { state: "waits" };
  places.wait(holder, LIMITS, never).then(
    () => (seen.state = "has a place"),
    (error: unknown) => (seen.state = error),
  );
  return seen;
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("places", () => {
  it("keep one free for a key that has none", () => {
    const places = new Places();
    expect([fill(places, A), fill(places, B), places.hasRoom(C, LIMITS)]).toEqual([2, 1, true]);
  });

  it("go to the keys that wait in turn, and within a key in the order of arrival", async () => {
    const places = new Places();
    const limits = { ...LIMITS, places: 1 };
    places.take(A);
    const order: string[] = [];
    const wait = (holder: Holder, name: string): void =>
      void places.wait(holder, limits, never).then(() => order.push(name));
    wait(A, "a1");
    wait(A, "a2");
    wait(B, "b1");
    let holder = A;
    for (const next of [A, B, A]) {
      places.release(holder);
      await turn();
      holder = next;
    }
    expect(order).toEqual(["a1", "b1", "a2"]);
    places.release(holder);
    expect([places.inFlight, places.queued]).toEqual([0, 0]);
  });

  it("may all be one key's while no other has come, and not within a minute of another", () => {
    let nowMs = 0;
    const places = new Places(() => nowMs);
    const limits = { ...LIMITS, mayHaveAll: true };
    expect(fill(places, A, limits)).toBe(4);
    for (let left = 4; left > 0; left -= 1) places.release(A);
    expect(fill(places, B, limits)).toBe(2);
    places.release(B);
    places.release(B);
    nowMs += 60_001;
    expect(fill(places, B, limits)).toBe(4);
  });

  it("keep one of eight for a key that comes while another was alone", () => {
    const places = new Places();
    const limits = { ...LIMITS, places: 16, mayHaveAll: true };
    expect(fill(places, A, limits)).toBe(14);
    expect(places.hasRoom(B, limits)).toBe(true);
  });

  it("let the key with the most waiting requests lose its newest when another needs to wait", async () => {
    const places = new Places();
    fill(places, A);
    fill(places, B);
    const limits = { ...LIMITS, places: 3 };
    const waiting = [1, 2, 3, 4].map(() => outcome(places, A));
    expect(places.hasQueue(A, limits)).toBe(false);
    expect(() => places.hasQueue(B, limits)).not.toThrow();
    const refused = outcome(places, A);
    const other = outcome(places, B);
    await turn();
    expect(refused.state).toMatchObject({
      code: "overloaded",
      message: expect.stringContaining("4 waiting requests") as string,
    });
    expect(
      waiting.map(({ state }) => (state === "waits" ? state : (state as Error).message)),
    ).toEqual(["waits", "waits", "waits", expect.stringContaining("another key needs a place")]);
    expect([other.state, places.queued]).toEqual(["waits", 4]);
  });

  it("are not waited for longer than the limit, nor by a client that left", async () => {
    vi.useFakeTimers();
    const places = new Places();
    fill(places, A);
    // Waits of one length share a timer: another test has begun that of the others.
    const limits = { ...LIMITS, waitMs: 1_234 };
    const late = places.wait(A, limits, never).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_235);
    expect(await late).toMatchObject({ code: "overloaded", status: 503, retryAfterMs: 1_234 });
    vi.useRealTimers();
    const leaving = new AbortController();
    const left = places.wait(A, LIMITS, leaving.signal).catch((error: unknown) => error);
    leaving.abort(new Error("left"));
    expect(await left).toBe(leaving.signal.reason);
    await expect(places.wait(A, LIMITS, leaving.signal)).rejects.toThrow("left");
    expect(places.queued).toBe(0);
  });
});
