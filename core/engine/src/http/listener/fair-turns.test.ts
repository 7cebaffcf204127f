import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate as endOfTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { withFairTurns } from "./fair-turns.ts";

let nowMs = 0;
beforeEach(() => void vi.spyOn(performance, "now").mockImplementation(() => nowMs));
afterEach(() => void vi.restoreAllMocks());

/**
 * A listener, and the claims of the requests that have begun in each turn. `takesMs`: what the
 * begin of one takes.
 */
function opened(takesMs = 0) {
  const turns: string[][] = [[]];
  const listener = withFairTurns(
    (request) => {
      turns.at(-1)?.push(request.url ?? "");
      nowMs += takesMs;
    },
    ({ url }) => url ?? "",
  );
  const arrive = (claim: string, count = 1): { destroyed: boolean }[] =>
    Array.from({ length: count }, () => {
      const response = { destroyed: false };
      listener({ url: claim } as IncomingMessage, response as ServerResponse);
      return response;
    });
  const pass = async (): Promise<void> => {
    turns.push([]);
    await endOfTurn();
  };
  return { turns, arrive, pass };
}

const times = (claim: string, count: number): string[] => Array<string>(count).fill(claim);

it("begins 16 requests in a turn, and each of them once", async () => {
  const { turns, arrive, pass } = opened();
  arrive("a", 40);
  for (let turn = 0; turn < 4; turn += 1) await pass();
  expect(turns).toEqual([times("a", 16), times("a", 16), times("a", 8), [], []]);
  arrive("a", 16);
  expect(turns.at(-1)).toEqual(times("a", 16));
});

it("begins none after two milliseconds of a turn, and one in each turn at least", async () => {
  const { turns, arrive, pass } = opened(0.5);
  arrive("a", 7);
  await pass();
  expect(turns).toEqual([times("a", 4), times("a", 3)]);
  const slow = opened(3);
  slow.arrive("a", 3);
  await slow.pass();
  await slow.pass();
  expect(slow.turns).toEqual([["a"], ["a"], ["a"]]);
});

it("begins a request of another key in the next turn, however many wait", async () => {
  const { turns, arrive, pass } = opened();
  arrive("a", 200);
  arrive("b", 2);
  await pass();
  expect(turns[1]).toEqual(["a", "b", "a", "b", ...times("a", 12)]);
  arrive("c");
  expect(turns[1]).not.toContain("c");
  await pass();
  expect(turns[2]?.slice(0, 2)).toEqual(["a", "c"]);
});

it("does not begin a request whose client has left", async () => {
  const { turns, arrive, pass } = opened();
  arrive("a", 16);
  for (const response of arrive("b", 30)) response.destroyed = true;
  arrive("b");
  await pass();
  expect(turns).toEqual([times("a", 16), ["b"]]);
});
