import { describe, expect, it } from "vitest";
import { GatewayError } from "@sluice/spec";
import { branchOf } from "./branch.ts";
import { jsonReply } from "./json/document.ts";
import { fakeExchange, fakeRequest, fakeTarget } from "./testing/fake-exchange.ts";

const [A, B] = [fakeTarget("a"), fakeTarget("b")];

describe("a branch", () => {
  it("begins as its parent is, and keeps what it sets to itself until it is adopted", () => {
    const parent = fakeExchange({ request: fakeRequest({ model: "m" }), target: A, headers: new Map([["x-old", "1"]]) });
    const branch = branchOf(parent);
    expect([branch.request, branch.target, branch.parent]).toEqual([parent.request, A, parent]);
    branch.target = B;
    branch.reply = jsonReply({ ok: true });
    branch.headers.delete("x-old");
    branch.headers.set("x-new", "2");
    expect([parent.target, parent.reply, [...parent.headers]]).toEqual([A, undefined, [["x-old", "1"]]]);
    branch.adopt();
    expect([parent.target, parent.reply, [...parent.headers]]).toEqual([B, branch.reply, [["x-new", "2"]]]);
  });

  it("lists its own attempts, numbered among all of the parent's", () => {
    const parent = fakeExchange();
    const [one, two] = [branchOf(parent), branchOf(parent)];
    const attempts = [one.beginAttempt(A, "p"), two.beginAttempt(B, "p"), one.beginAttempt(A, "p")];
    expect(parent.attempts).toEqual(attempts);
    expect(one.attempts.map(({ number }) => number)).toEqual([1, 3]);
    expect(two.attempts.map(({ number }) => number)).toEqual([2]);
  });

  it("is aborted alone, and with its parent, before or later", () => {
    const leaving = new AbortController();
    const parent = fakeExchange({ signal: leaving.signal });
    const [lost, won] = [branchOf(parent), branchOf(parent)];
    const reason = new GatewayError("hedge_lost", "lost");
    lost.abort(reason);
    expect([lost.signal.reason, won.signal.aborted, parent.signal.aborted]).toEqual([reason, false, false]);
    leaving.abort(new GatewayError("client_closed", "left"));
    expect([lost.signal.reason, won.signal.reason]).toEqual([reason, leaving.signal.reason]);
    expect(branchOf(parent).signal.reason).toBe(leaving.signal.reason);
  });

  it("shares what belongs to the exchange: its state, its pricer, its end", () => {
    const settled: (() => void)[] = [];
    const parent = fakeExchange({ onSettle: (tell) => void settled.push(tell) });
    const branch = branchOf(parent);
    const pricer = () => ({ status: "free", nanoUsd: 0 }) as const;
    branch.pricer = pricer;
    const tell = (): void => undefined;
    branch.onSettle(tell);
    expect([parent.pricer, branch.state, settled]).toEqual([pricer, parent.state, [tell]]);
  });
});
