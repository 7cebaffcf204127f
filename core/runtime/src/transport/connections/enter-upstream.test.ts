import { expect, it } from "vitest";
import { GatewayError, type AttemptWriter } from "@sluice/contract";
import { fakeAttempt, fakeClock, fakeExchange, fakeRequest, fakeTarget } from "@sluice/testing";
import { addGate, beginAttemptAt, enterLocal } from "./enter-upstream.ts";
import { ConnectionPlaces, holderOf } from "@sluice/kit/internals";
import { type AttemptOptions, runAttempt } from "../attempt.ts";

const REFUSED = new GatewayError(
  "overloaded",
  "The gateway cannot store spend rows at the moment.",
);

const exchangeWith = (noted: Promise<void> | undefined) =>
  fakeExchange({
    openAttempt: (_exchange, target): AttemptWriter =>
      Object.assign(fakeAttempt({ target }), { noted }),
  });

const enter = (places: ConnectionPlaces) =>
  places.enter(holderOf(undefined), "p", new AbortController().signal, 0);

it("hands out an attempt once its note is written", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isThere = false;
  const begun = Promise.resolve(
    beginAttemptAt({ admission: undefined }, exchangeWith(promise), fakeTarget(), "openai"),
  ).then((attempt) => {
    isThere = true;
    return attempt;
  });
  await new Promise(setImmediate);
  expect(isThere).toBe(false);
  resolve();
  expect((await begun).noted).toBeUndefined();
  expect(
    beginAttemptAt({ admission: undefined }, exchangeWith(undefined), fakeTarget(), "openai"),
  ).not.toBeInstanceOf(Promise);
});

it("sets the admission on the attempt", async () => {
  const admitted: unknown[] = [];
  const exchange = fakeExchange();
  addGate(exchange, (...[, , , admission]) => void admitted.push(admission));
  const { document } = fakeRequest({ model: "m" });
  for (let call = 0; call < 2; call += 1) {
    await beginAttemptAt(
      await enterLocal(exchange, fakeTarget(), document),
      exchange,
      fakeTarget(),
      "openai",
    );
  }
  expect(exchange.attempts.map(({ admission }) => admission)).toEqual(admitted);
  expect(admitted[0]).not.toBe(admitted[1]);
});

it("gives the connection back when the note cannot be written, also for a step that did not wait for it", async () => {
  const places = new ConnectionPlaces(1);
  const failed = Promise.reject(REFUSED);
  const place = await enter(places);
  await expect(
    beginAttemptAt({ place, admission: undefined }, exchangeWith(failed), fakeTarget(), "openai"),
  ).rejects.toBe(REFUSED);
  const next = await enter(places);
  const attempt = Object.assign(fakeAttempt({}), { noted: failed });
  const unused = { attempt, place: next, clock: fakeClock() } as unknown as AttemptOptions;
  await expect(runAttempt(unused)).rejects.toBe(REFUSED);
  expect(attempt.outcome).toBeUndefined();
  (await enter(places)).release();
});
