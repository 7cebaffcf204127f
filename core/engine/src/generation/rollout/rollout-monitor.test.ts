import { beforeEach, describe, expect, it } from "vitest";
import { type Attempt, GatewayError } from "@sluice/contract";
import { fakeAttempt, fakeClock, fakeIdentity, fakeRequest, fakeTarget } from "@sluice/testing";
import type { Generation } from "../generation.ts";
import { type RolloutFault, RolloutMonitor } from "./rollout-monitor.ts";
import type { Counter } from "./counted.ts";

const SETTINGS = { errorRate: 0.2, onlyBelow: 0.05, minRequests: 20, forMs: 30_000 };

let clock: ReturnType<typeof fakeClock>;
let watch: RolloutMonitor;
let faults: RolloutFault[];

const generationOf = (number: number, digest = `digest-${number}`): Generation =>
  ({
    number,
    snapshot: { digest },
    tally: undefined as Counter | undefined,
  }) as unknown as Generation;

interface EndParts {
  readonly keys?: readonly string[];
  readonly attempts?: readonly Attempt[];
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Requests of several keys that end on a generation, those that fail last. */
function end(generation: Generation, requests: number, errors = 0, parts: EndParts = {}): void {
  const { keys = ["a", "b", "c", "d"], attempts = [], body, signal } = parts;
  for (let index = 0; index < requests; index += 1) {
    const failure =
      index >= requests - errors ? new GatewayError("upstream_unreachable", "no") : undefined;
    const identity = fakeIdentity({ keyId: keys[index % keys.length] ?? "" });
    const request = fakeRequest({ model: "m", user: body ?? String(index) });
    const counted = { startedAtMs: 0, failure, reply: undefined, attempts, identity, request };
    generation.tally?.add(signal === undefined ? counted : { ...counted, signal });
  }
}

beforeEach(beforeEachOne);

function beforeEachOne(): void {
  clock = fakeClock();
  watch = new RolloutMonitor(SETTINGS, clock);
  faults = [];
  watch.onFault = (fault) => faults.push(fault);
}

describe("the rollout monitor", () => {
  const [old, next] = [generationOf(1), generationOf(2)];

  function swapAfter(requests: number, errors = 0): void {
    watch.follow(old, undefined, true);
    end(old, requests, errors);
    watch.follow(next, old, true);
  }

  it("reports a generation whose requests fail where those before did not", () => {
    swapAfter(50, 2);
    end(next, 19, 10);
    expect(faults).toEqual([]);
    end(next, 1, 1);
    const reason = "11 of the first 20 requests of generation 2 failed, of the 50 before 2";
    expect(faults).toEqual([{ generation: 2, previous: 1, reason }]);
    expect(watch.judged).toMatchObject({
      generation: 2,
      requests: 20,
      errors: 11,
      before: { requests: 50, errors: 2 },
    });
  });

  it("accepts as many failures as its settings allow", () => {
    swapAfter(50);
    end(next, 80);
    end(next, 20, 20);
    expect(faults).toEqual([]);
    end(next, 4, 4);
    expect(faults).not.toEqual([]);
  });

  it("reports nothing when earlier requests failed as well, or were too few to compare", () => {
    swapAfter(40, 4);
    end(next, 40, 40);
    expect(faults).toEqual([]);
    watch = new RolloutMonitor(SETTINGS, clock);
    watch.onFault = (fault) => faults.push(fault);
    swapAfter(19);
    end(next, 40, 40);
    expect(faults).toEqual([]);
  });

  it("counts what ends on the old generation meanwhile: an upstream that fails fails both", () => {
    swapAfter(40);
    end(old, 3, 3);
    end(next, 40, 40);
    expect(faults).toEqual([]);
    expect(watch.judged?.before).toEqual({ requests: 43, errors: 3 });
  });

  it("compares with the newest hundred requests", () => {
    watch.follow(old, undefined, true);
    end(old, 60, 60);
    end(old, 100);
    watch.follow(next, old, true);
    expect(watch.judged?.before).toEqual({ requests: 100, errors: 0 });
  });

  it("ends after its time", () => {
    swapAfter(50);
    clock.advance(30_001);
    end(next, 40, 40);
    expect([faults, watch.judged]).toEqual([[], undefined]);
  });

  it("observes neither the start nor contents that served before", () => {
    watch.follow(old, undefined, true);
    expect(watch.judged).toBeUndefined();
    watch.follow(next, old, false);
    expect(watch.judged).toBeUndefined();
  });

  it("forgets the requests of a generation that is left", () => {
    swapAfter(50);
    end(next, 20, 20);
    watch.settle();
    const [third, again] = [generationOf(3, "digest-1"), generationOf(4, "digest-2")];
    watch.follow(third, next, false);
    watch.follow(again, third, false);
    end(again, 40, 40);
    expect(faults).toHaveLength(1);
    const fifth = generationOf(5);
    watch.follow(fifth, again, true);
    expect(watch.judged?.before.requests).toBe(90);
  });

  it("keeps the earlier requests after a rollback", () => {
    swapAfter(50);
    end(next, 30, 30);
    watch.settle();
    const [third, fourth] = [generationOf(3, "digest-1"), generationOf(4)];
    watch.follow(third, next, false);
    watch.follow(fourth, third, true);
    expect(watch.judged?.before).toEqual({ requests: 50, errors: 0 });
  });

  it("needs failures of two keys, or of one with different bodies that is alone (I9)", () => {
    swapAfter(100);
    end(next, 30, 0, { keys: ["victim"] });
    end(next, 100, 100, { keys: ["attacker"] });
    expect(faults).toEqual([]);
    end(next, 30, 30, { keys: ["victim"] });
    expect(faults).not.toEqual([]);
    for (const [body, found] of [
      ["same", 0],
      [undefined, 1],
    ] as const) {
      beforeEachOne();
      swapAfter(50);
      end(next, 20, 20, { keys: ["only"], ...(body === undefined ? {} : { body }) });
      expect(faults).toHaveLength(found);
    }
  });

  it("still reports when one key's requests failed before", () => {
    watch.follow(old, undefined, true);
    end(old, 60, 0, { keys: ["a", "b"] });
    end(old, 30, 30, { keys: ["attacker"] });
    watch.follow(next, old, true);
    end(next, 40, 40);
    expect(faults).not.toEqual([]);
  });

  it.each(["client_closed", "client_stalled"] as const)(
    "counts no client that left: %s",
    (code) => {
      swapAfter(50);
      const signal = AbortSignal.abort(new GatewayError(code, "left"));
      end(next, 40, 40, { signal });
      expect(faults).toEqual([]);
    },
  );

  it("ignores the upstream's own 5xx when the edit did not change the target", () => {
    const target = fakeTarget("p", "m");
    const model = {
      id: "m",
      entry: "m",
      mode: "chat" as const,
      targets: [target],
      accessGroups: [],
      ownedBy: "p",
    };
    const attempts = [fakeAttempt({ target, model, upstreamStatus: 500 })];
    const settings = (address: string) => ({
      providers: [
        { name: "p", use: "openai", options: { base_url: address }, timeouts: {}, connections: 1 },
      ],
      models: [{ id: "m", targets: [{ provider: "p", model: "m" }] }],
    });
    for (const [address, found] of [
      ["http://a", 0],
      ["http://b", 1],
    ] as const) {
      beforeEachOne();
      Object.assign(old.snapshot, settings("http://a"));
      Object.assign(next.snapshot, settings(address));
      swapAfter(50);
      end(next, 20, 20, { attempts });
      expect(faults).toHaveLength(found);
    }
  });
});
