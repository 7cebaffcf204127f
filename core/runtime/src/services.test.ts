import { isStorable, parentOf, viewApart } from "@sluice/kit/internals";
import { BILLING, SERVED } from "./slots.ts";
import { beginAttempt } from "./services.ts";
import { describe, expect, it } from "vitest";
import { type Exchange, GatewayError } from "@sluice/contract";
import { branchOf, jsonReply, withholdReply } from "@sluice/kit";
import { fakeAttempt, fakeExchange, fakeRequest, fakeTarget } from "@sluice/testing";

const [A, B] = [fakeTarget("a"), fakeTarget("b")];

describe("a branch", () => {
  it("begins as its parent is, and keeps what it sets to itself until it is adopted", () => {
    const parent = fakeExchange({
      request: fakeRequest({ model: "m" }),
      target: A,
      headers: new Map([["x-old", "1"]]),
    });
    const branch = branchOf(parent);
    expect([branch.request, branch.target, branch.parent]).toEqual([parent.request, A, parent]);
    branch.target = B;
    branch.reply = jsonReply({ ok: true });
    branch.headers.delete("x-old");
    branch.headers.set("x-new", "2");
    expect([parent.target, parent.reply, [...parent.headers]]).toEqual([
      A,
      undefined,
      [["x-old", "1"]],
    ]);
    branch.adopt();
    expect([parent.target, parent.reply, [...parent.headers]]).toEqual([
      B,
      branch.reply,
      [["x-new", "2"]],
    ]);
  });

  it("lists its own attempts, numbered among all of the parent's", () => {
    const parent = fakeExchange();
    const [one, two] = [branchOf(parent), branchOf(parent)];
    const attempts = [
      beginAttempt(one, A, "p"),
      beginAttempt(two, B, "p"),
      beginAttempt(one, A, "p"),
    ];
    expect(parent.attempts).toEqual(attempts);
    expect(one.attempts.map(({ number }) => number)).toEqual([1, 3]);
    expect(two.attempts.map(({ number }) => number)).toEqual([2]);
  });

  it("follows a controller of the caller's in place of its parent", () => {
    const leaving = new AbortController();
    const controller = new AbortController();
    const branch = branchOf(fakeExchange({ signal: leaving.signal }), controller);
    leaving.abort(new GatewayError("client_closed", "left"));
    expect(branch.signal.aborted).toBe(false);
    const reason = new GatewayError("deadline_exceeded", "late");
    controller.abort(reason);
    expect(branch.signal.reason).toBe(reason);
  });

  it("shares with its parent what was served, and whether the reply may be kept", () => {
    const parent = fakeExchange();
    const branch = branchOf(parent);
    const served = fakeAttempt({ number: 0 });
    withholdReply(branch);
    SERVED.set(branch, served);
    expect([isStorable(parent), SERVED.get(parent)]).toEqual([false, served]);
  });

  it("is aborted alone, and with its parent, before or later", () => {
    const leaving = new AbortController();
    const parent = fakeExchange({ signal: leaving.signal });
    const [lost, won] = [branchOf(parent), branchOf(parent)];
    const reason = new GatewayError("hedge_lost", "lost");
    lost.abort(reason);
    expect([lost.signal.reason, won.signal.aborted, parent.signal.aborted]).toEqual([
      reason,
      false,
      false,
    ]);
    leaving.abort(new GatewayError("client_closed", "left"));
    expect([lost.signal.reason, won.signal.reason]).toEqual([reason, leaving.signal.reason]);
    expect(branchOf(parent).signal.reason).toBe(leaving.signal.reason);
  });

  it("shares what belongs to the exchange: its slots, its billing, its end", () => {
    const settled: (() => void)[] = [];
    const parent = fakeExchange({ onSettle: (tell) => void settled.push(tell) });
    const branch = branchOf(parent);
    const billing = { price: () => ({ status: "free", nanoUsd: 0 }) as const };
    BILLING.set(branch, billing);
    const tell = (): void => undefined;
    branch.lifetime.onSettle(tell);
    expect([BILLING.get(parent), branch.slots, settled]).toEqual([billing, parent.slots, [tell]]);
  });
});

describe("a view apart", () => {
  const apartFrom = (beneath: Exchange) => {
    const notes: string[] = [];
    const note = (step: string, text: string): void => void notes.push(`${step} ${text}`);
    return { view: viewApart(beneath, { slots: [], attempts: beneath.attempts, note }), notes };
  };

  it("begins as the exchange beneath was at that moment, and changes nothing of it", () => {
    const beneath = fakeExchange({
      target: A,
      headers: new Map([["x-old", "1"]]),
      reply: jsonReply({ ok: true }),
    });
    const { view, notes } = apartFrom(beneath);
    beneath.headers.set("x-later", "2");
    expect([view.target, view.reply, [...view.headers]]).toEqual([A, undefined, [["x-old", "1"]]]);
    view.target = B;
    view.headers.set("x-new", "3");
    withholdReply(view);
    view.note("it", "says");
    expect([beneath.target, [...beneath.headers.keys()], isStorable(beneath)]).toEqual([
      A,
      ["x-old", "x-later"],
      true,
    ]);
    expect([parentOf(view), notes]).toEqual([undefined, ["it says"]]);
  });

  it("sees the attempts beneath, and ends with it or alone", () => {
    const leaving = new AbortController();
    const beneath = fakeExchange({ signal: leaving.signal });
    const [{ view: one }, { view: other }] = [apartFrom(beneath), apartFrom(beneath)];
    const reason = new GatewayError("client_closed", "over");
    one.abort(reason);
    expect([one.signal.reason, other.signal.aborted, leaving.signal.aborted]).toEqual([
      reason,
      false,
      false,
    ]);
    leaving.abort(new GatewayError("client_closed", "left"));
    expect(other.signal.reason).toBe(leaving.signal.reason);
    beginAttempt(beneath, A, "p");
    expect(other.attempts).toBe(beneath.attempts);
  });

  it("accepts no invalid reply, as the exchange beneath", () => {
    const { view } = apartFrom(fakeExchange());
    expect(() => void (view.reply = { kind: "nonsense" } as never)).toThrow(Error);
  });
});
