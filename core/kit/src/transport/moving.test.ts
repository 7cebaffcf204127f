import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { mayMoveOn, moveLater } from "./moving.ts";

it("bounds the bytes of all bodies in one turn", async () => {
  await nextTurn();
  expect(mayMoveOn(200_000)).toBe(true);
  expect(mayMoveOn(200_000)).toBe(false);
  expect(mayMoveOn(1)).toBe(false);
  await nextTurn();
  expect(mayMoveOn(200_000)).toBe(true);
});

it("resumes the bodies that wait in their order, a few in each turn", async () => {
  const order: number[] = [];
  for (let body = 0; body < 20; body += 1) moveLater(() => void order.push(body));
  const seen: number[] = [];
  while (order.length < 20) {
    await nextTurn();
    seen.push(order.length);
  }
  expect(order).toEqual(Array.from({ length: 20 }, (_, body) => body));
  // What ran between two turns of this test is one turn of the queue, or two.
  seen.forEach((length, at) => expect(length - (seen[at - 1] ?? 0)).toBeLessThanOrEqual(8));
});

it("resumes the bodies of keys in turn", async () => {
  const order: string[] = [];
  const move = (key: string): void =>
    moveLater(() => void order.push(key), { key, team: undefined });
  for (let body = 0; body < 20; body += 1) move("a");
  move("b");
  move("c");
  while (order.length < 22) await nextTurn();
  expect(order.slice(0, 4)).toEqual(["a", "b", "c", "a"]);
});

it("lets a body that waits again go on in a later turn", async () => {
  let turns = 0;
  const seen: number[] = [];
  const goOn = (): void => {
    seen.push(turns);
    if (seen.length < 3) moveLater(goOn);
  };
  moveLater(goOn);
  while (seen.length < 3) {
    await nextTurn();
    turns += 1;
  }
  expect(new Set(seen).size).toBe(3);
});
