import { expect, it, vi } from "vitest";
import type { Identity } from "@sluice/contract";
import { LateSignal } from "../state/late-signal.ts";
import type { Holder } from "../state/parts.ts";
import { beginNow, inTurns, nextTurn } from "./turns.ts";

const A: Holder = { key: "a", team: undefined };

it("lets one caller go in each turn of the event loop, in the order in which they asked", async () => {
  const order: string[] = [];
  const callers = ["a", "b", "c"].map(async (name) => {
    await nextTurn();
    order.push(name);
  });
  const seen: number[] = [];
  while (order.length < callers.length) {
    seen.push(order.length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(callers);
  expect(order).toEqual(["a", "b", "c"]);
  // Never two of them between two turns.
  expect(seen.every((length, index) => index === 0 || length - (seen[index - 1] ?? 0) <= 1)).toBe(
    true,
  );
  await nextTurn();
});

it("serves keys in turn: a key with hundreds of pieces holds up no other", async () => {
  const order: string[] = [];
  const many = Array.from({ length: 300 }, async (_, at) => {
    await nextTurn(undefined, A);
    order.push(`a${at}`);
  });
  const owner = { identity: { keyId: "b" } as Identity };
  function* work(): Generator<void, void, undefined> {
    for (let at = 0; at < 3; at += 1) {
      order.push(`b${at}`);
      yield;
    }
  }
  await inTurns(work(), new LateSignal(owner));
  expect(order.slice(0, 6)).toEqual(["a0", "b0", "a1", "b1", "a2", "b2"]);
  await Promise.all(many);
  const ofA = order.filter((name) => name.startsWith("a"));
  expect(ofA).toEqual(Array.from({ length: 300 }, (_, at) => `a${at}`));
});

it("does no more stages of work whose ending has come, and lets others go on", async () => {
  const stages: string[] = [];
  function* work(name: string): Generator<void, string, undefined> {
    for (let at = 0; at < 3; at += 1) {
      stages.push(`${name}${at}`);
      if (name === "a" && at === 1) early.abort("the client has gone");
      yield;
    }
    return name;
  }
  const early = new LateSignal();
  const outcomes = Promise.allSettled([
    inTurns(work("a"), early),
    inTurns(work("b"), new LateSignal()),
    nextTurn(early),
  ]);
  expect(await outcomes).toEqual([
    { status: "rejected", reason: "the client has gone" },
    { status: "fulfilled", value: "b" },
    { status: "fulfilled", value: undefined },
  ]);
  expect(stages.toSorted()).toEqual(["a0", "a1", "b0", "b1", "b2"]);
});

it.each([1, 30])("leaves turns to other work behind a piece of %i ms", async (pieceMs) => {
  // Only the pieces take time on this clock: a busy machine takes time between the turns.
  let nowMs = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  await nextTurn();
  setImmediate(count);
  const atPieces: number[] = [];
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      await nextTurn();
      atPieces.push(turns);
      nowMs += pieceMs;
    }),
  );
  isOver = true;
  const between = atPieces.slice(1).map((turn, index) => turn - (atPieces[index] ?? 0));
  expect(between).toEqual(between.map(() => 5));
  vi.restoreAllMocks();
});

it("does the first stage of work at once, and the others in turns", async () => {
  const done: string[] = [];
  function* work(stages: number): Generator<void, string, undefined> {
    for (let at = 0; at < stages; at += 1) {
      done.push(`stage ${at}`);
      if (at < stages - 1) yield;
    }
    return "made";
  }
  expect(beginNow(work(1))).toBe("made");
  const made = beginNow(work(3));
  done.push("later");
  expect(await made).toBe("made");
  expect(done).toEqual(["stage 0", "stage 0", "later", "stage 1", "stage 2"]);
});
