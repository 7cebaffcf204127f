import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { GatewayError, type LedgerSumFilter } from "@sluice/contract";
import { CustomerSums } from "./customer-sums.ts";

const named = (endUser: string): LedgerSumFilter => ({ organizationId: "", endUser });
const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `c${at}`);

/** Questions that a test answers, and the customers of each. */
function openSums(pauseMs = 0) {
  const questions: { customers: string[]; answer: PromiseWithResolvers<readonly number[]> }[] = [];
  const sums = new CustomerSums((filters) => {
    const answer = Promise.withResolvers<readonly number[]>();
    questions.push({ customers: filters.map(({ endUser }) => endUser ?? ""), answer });
    return answer.promise;
  }, pauseMs);
  const asked = (): string[][] => questions.map(({ customers }) => customers);
  const ask = (customers: readonly string[], signal?: AbortSignal) =>
    Promise.allSettled(customers.map((name) => sums.of(named(name), signal)));
  return { sums, questions, asked, ask };
}

const values = (settled: readonly PromiseSettledResult<number>[]): unknown[] =>
  settled.map((each) => (each.status === "fulfilled" ? each.value : each.reason.message));

it("those of one turn are one question, and each gets its own sum", async () => {
  const { questions, asked, ask } = openSums();
  const first = ask(["a", "b", "c"]);
  expect(questions).toEqual([]);
  await nextTurn();
  const second = ask(["d"]);
  await nextTurn();
  expect(asked()).toEqual([["a", "b", "c"], ["d"]]);
  questions[1]?.answer.resolve([4]);
  expect(values(await second)).toEqual([4]);
  questions[0]?.answer.resolve([1, 2, 3]);
  expect(values(await first)).toEqual([1, 2, 3]);
});

it("those that come soon after a question go together, however many turns they come in", async () => {
  const { questions, asked, ask } = openSums(60_000);
  const first = ask(["a"]);
  await nextTurn();
  const others = [ask(["b"])];
  await nextTurn();
  others.push(ask(["c"]));
  await nextTurn();
  expect(asked()).toEqual([["a"]]);
  // A full question waits for nothing.
  const rest = names(62);
  others.push(ask(rest));
  expect(asked()).toEqual([["a"], ["b", "c", ...rest]]);
  questions[0]?.answer.resolve([1]);
  questions[1]?.answer.resolve(Array.from({ length: 64 }, (_, at) => at));
  expect(values(await first)).toEqual([1]);
  expect((await Promise.all(others)).flatMap(values)).toEqual(
    questions[1]?.customers.map((_, at) => at),
  );
});

it("the pause after a question ends", async () => {
  const { questions, ask } = openSums(20);
  const first = ask(["a"]);
  await nextTurn();
  const second = ask(["b"]);
  await vi.waitFor(() => expect(questions).toHaveLength(2));
  for (const { answer } of questions) answer.resolve([7]);
  expect([values(await first), values(await second)]).toEqual([[7], [7]]);
});

it("more than 64 are several questions at once", async () => {
  const { questions, asked, ask } = openSums();
  const customers = names(130);
  const settled = ask(customers);
  await nextTurn();
  expect(asked()).toEqual([customers.slice(0, 64), customers.slice(64, 128), customers.slice(128)]);
  for (const { customers: those, answer } of questions.toReversed())
    answer.resolve(those.map((name) => Number(name.slice(1))));
  expect(values(await settled)).toEqual(customers.map((_, at) => at));
});

it("those that come while three questions are under way go together when one is answered", async () => {
  const { questions, asked, ask } = openSums();
  const turns = [];
  for (const customer of names(6)) {
    turns.push(ask([customer]));
    await nextTurn();
  }
  expect(asked()).toEqual([["c0"], ["c1"], ["c2"]]);
  questions[1]?.answer.resolve([1]);
  await nextTurn();
  expect(asked().slice(3)).toEqual([["c3", "c4", "c5"]]);
  questions[3]?.answer.resolve([3, 4, 5]);
  questions[0]?.answer.resolve([0]);
  questions[2]?.answer.reject(new Error("the file cannot be read"));
  const message = "the file cannot be read";
  expect((await Promise.all(turns)).map(values)).toEqual([[0], [1], [message], [3], [4], [5]]);
});

it("what an answer leaves out is asked for again, and counts as no zero", async () => {
  const { questions, asked, ask } = openSums();
  const settled = ask(["a", "b", "c"]);
  await nextTurn();
  questions[0]?.answer.resolve([1]);
  await nextTurn();
  expect(asked()).toEqual([
    ["a", "b", "c"],
    ["b", "c"],
  ]);
  questions[1]?.answer.resolve([2, 3]);
  expect(values(await settled)).toEqual([1, 2, 3]);
});

it("an answer without a sum is a failure", async () => {
  const { questions, asked, ask } = openSums();
  const settled = ask(["a", "b"]);
  await nextTurn();
  questions[0]?.answer.resolve([]);
  const message = "the ledger answered without a sum";
  expect(values(await settled)).toEqual([message, message]);
  expect(asked()).toHaveLength(1);
});

it("a late answer refuses the first sum, and the others are asked for again", async () => {
  const { questions, asked, ask } = openSums();
  const settled = ask(["large", "b", "c"]);
  await nextTurn();
  questions[0]?.answer.reject(new GatewayError("deadline_exceeded", "late"));
  await nextTurn();
  expect(asked()[1]).toEqual(["b", "c"]);
  questions[1]?.answer.resolve([2, 3]);
  expect(values(await settled)).toEqual(["late", 2, 3]);
});

it("two late answers in a row refuse the rest", async () => {
  const { questions, asked, ask } = openSums();
  const settled = ask(["a", "b", "c", "d"]);
  for (let question = 0; question < 2; question++) {
    await nextTurn();
    questions[question]?.answer.reject(new GatewayError("deadline_exceeded", "late"));
  }
  expect(values(await settled)).toEqual(["late", "late", "late", "late"]);
  expect(asked()).toEqual([
    ["a", "b", "c", "d"],
    ["b", "c", "d"],
  ]);
});

it("a failure refuses all of its question, and none of another", async () => {
  const { questions, asked, ask } = openSums();
  const failing = ask(["a", "b"]);
  await nextTurn();
  const other = ask(["c"]);
  await nextTurn();
  questions[0]?.answer.reject(new Error("the file cannot be read"));
  const message = "the file cannot be read";
  expect(values(await failing)).toEqual([message, message]);
  questions[1]?.answer.resolve([3]);
  expect(values(await other)).toEqual([3]);
  expect(asked()).toHaveLength(2);
});

it("an aborted one is rejected at once, is not asked for, and delays no other", async () => {
  const { questions, asked, ask } = openSums();
  const leaving = new AbortController();
  const gone = ask(["a"], leaving.signal);
  const others = ask(["b", "c"]);
  leaving.abort(new Error("the client left"));
  expect(values(await gone)).toEqual(["the client left"]);
  await nextTurn();
  expect(asked()).toEqual([["b", "c"]]);

  const late = new AbortController();
  const during = ask(["d"], late.signal);
  await nextTurn();
  late.abort(new Error("left later"));
  expect(values(await during)).toEqual(["left later"]);
  questions[1]?.answer.resolve([9]);
  questions[0]?.answer.resolve([2, 3]);
  expect(values(await others)).toEqual([2, 3]);
});

it("one whose signal is aborted already asks nothing", async () => {
  const { asked, ask } = openSums();
  expect(values(await ask(["a"], AbortSignal.abort(new Error("gone"))))).toEqual(["gone"]);
  await nextTurn();
  expect(asked()).toEqual([]);
});

it("a stop refuses those that wait and later ones, and asks nothing more", async () => {
  const { sums, questions, asked, ask } = openSums();
  const underWay = ask(["a", "b"]);
  await nextTurn();
  const waiting = ask(["c"]);
  sums.stop();
  const message = "the store is closed";
  expect(values(await waiting)).toEqual([message]);
  expect(values(await ask(["d"]))).toEqual([message]);
  questions[0]?.answer.resolve([1]);
  expect(values(await underWay)).toEqual([1, message]);
  expect(asked()).toEqual([["a", "b"]]);
});
