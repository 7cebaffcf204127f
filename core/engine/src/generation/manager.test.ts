import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { GatewayError, KeyStore, StepDefinition, TeamStore } from "@sluice/contract";
import { fakeClock, fakeHost, fakeLog } from "@sluice/testing";
import { line, modelOf, pipelineOf, snapshotOf, stepOf } from "../pipeline/snapshot.fixture.ts";
import type { Finding } from "../config/finding.ts";
import { indexDefinitions } from "../registry/definitions.ts";
import { KeyRing } from "../resources/key-ring.ts";
import { SharedPool } from "../resources/shared-pool.ts";
import type { ProcessParts } from "./parts.ts";
import type { Generation, Leaseholder } from "./generation.ts";
import type { Preflight } from "./rollout/apply.ts";
import { GenerationManager } from "./manager.ts";

const clock = fakeClock();
let events: string[];
/** What the step `gate` waits for when it starts. */
let gates: Map<string, Promise<void>>;
let shared: SharedPool;
let manager: GenerationManager;
let parts: () => ProcessParts;

/** Writes down its life; `name` of its options marks the instance. */
const traced = (name: string, parts: Partial<StepDefinition<never>> = {}): StepDefinition<never> =>
  stepOf(name, {
    create: (config: { readonly name?: string }, host) => {
      const mark = config.name ?? name;
      events.push(`make ${mark}`);
      host.scope.defer(() => void events.push(`close ${mark}`));
      return {
        run: (_ctx, next) => next(),
        start: async () => {
          events.push(`start ${mark}`);
          await gates.get(mark);
        },
        stop: async () => void events.push(`stop ${mark}`),
      };
    },
    ...parts,
  });

const definitions = indexDefinitions([
  {
    specifier: "test",
    version: "1.0.0",
    definitions: [
      traced("outer"),
      traced("gate"),
      traced("end", { traits: { terminal: true } }),
      stepOf("broken", {
        create: () => {
          throw new Error("no such colour");
        },
      }),
      stepOf("failing", {
        create: () => ({
          run: (_ctx, next) => next(),
          start: () => {
            events.push("start failing");
            return Promise.reject(new Error("no such host"));
          },
          stop: async () => void events.push("stop failing"),
        }),
      }),
      stepOf("hanging", {
        create: () => ({
          run: (_ctx, next) => next(),
          start: () => new Promise<void>(() => undefined),
          stop: async () => void events.push("stop hanging"),
        }),
      }),
      stepOf("pooled", {
        create: (_config, host) => {
          host.shared("pool", () => ({ close: () => void events.push("close pool") }));
          return { run: (_ctx, next) => next() };
        },
      }),
    ],
  },
]);

function snapshot(digest: string, ...steps: readonly string[]) {
  const all = [...steps, "end"].map((use) => ({ use, options: { name: `${use} ${digest}` } }));
  return snapshotOf({ digest, pipelines: [pipelineOf(all)] });
}

function holder(): Leaseholder & { reason: GatewayError | undefined } {
  const made = {
    startedAtMs: clock.now(),
    leaseIndex: -1,
    reason: undefined as GatewayError | undefined,
    abort: (reason: GatewayError) => void (made.reason = reason),
  };
  return made;
}

beforeEach(() => {
  vi.useFakeTimers();
  events = [];
  gates = new Map();
  shared = new SharedPool();
  const stores = { keys: {} as KeyStore, teams: {} as TeamStore };
  const keyRing = new KeyRing({
    pepper: Buffer.from("p"),
    masterKey: "m".repeat(24),
    ...stores,
    clock,
  });
  const ledger = {
    rows: async () => [],
    days: async () => [],
    tags: async () => [],
    report: async () => [],
    spent: async () => 0,
  };
  const { metrics, tokens, state, sealer } = fakeHost();
  parts = () => ({
    log: fakeLog([]),
    metrics,
    clock,
    definitions,
    shared,
    keyRing,
    ledger,
    tokens,
    state,
    sealer,
  });
  manager = new GenerationManager(parts());
});

afterEach(() => {
  vi.useRealTimers();
});

describe("applying a snapshot", () => {
  it("makes everything, starts the innermost step first, and swaps", async () => {
    expect(await manager.apply(snapshot("a", "outer"))).toMatchObject({
      outcome: "applied",
      digest: "a",
      findings: [],
    });
    expect(events).toEqual(["make outer a", "make end a", "start end a", "start outer a"]);
    expect(manager.live).toMatchObject({ number: 1, snapshot: { digest: "a" } });
  });

  it("with the same digest changes nothing", async () => {
    await manager.apply(snapshot("a"));
    const { live } = manager;
    events.length = 0;
    expect(await manager.apply(snapshot("a"))).toMatchObject({ outcome: "unchanged" });
    expect(manager.live).toBe(live);
    expect(events).toEqual([]);
  });

  it("refuses cold keys by their names and keeps the live one", async () => {
    await manager.apply(snapshot("a"));
    const cold = {
      ...snapshot("b"),
      plugins: [{ specifier: "./other.ts", from: "/gateway.yaml", at: line(4) }],
    };
    const result = await manager.apply(cold);
    expect(result).toMatchObject({ outcome: "refused", findings: [{ at: { line: 4 } }] });
    expect(result.findings[0]?.message).toContain("plugins");
    expect(manager.live).toMatchObject({ number: 1 });
  });

  it("refuses a wrong order before anything is made", async () => {
    const result = await manager.apply(
      snapshotOf({ digest: "x", pipelines: [pipelineOf(["outer"])] }),
    );
    expect(result).toMatchObject({ outcome: "refused" });
    expect(events).toEqual([]);
    expect(manager.live).toBeUndefined();
  });

  it.each([
    ["create throws", "broken", "no such colour"],
    ["start fails", "failing", "no such host"],
  ])("whose plugin's %s changes nothing and closes what was made", async (_what, use, said) => {
    await manager.apply(snapshot("a"));
    const { live } = manager;
    events.length = 0;
    const result = await manager.apply(snapshot("b", "gate", use, "outer"));
    expect(result).toMatchObject({ outcome: "refused" });
    expect(result.findings[0]?.message).toContain(said);
    expect(result.findings[0]?.at).toEqual(line(11));
    expect(manager.live).toBe(live);
    const made = events.filter((event) => event.startsWith("make ")).map((event) => event.slice(5));
    expect(
      events.filter((event) => event.startsWith("close ")).map((event) => event.slice(6)),
    ).toEqual(made.toReversed());
    const started = events
      .filter((event) => event.startsWith("start "))
      .map((event) => event.slice(6));
    expect(
      events.filter((event) => event.startsWith("stop ")).map((event) => event.slice(5)),
    ).toEqual(started.toReversed());
  });

  it("whose plugin hangs in start is refused after ten seconds, by the plugin's name", async () => {
    await manager.apply(snapshot("a"));
    const applying = manager.apply(snapshot("b", "hanging"));
    await vi.advanceTimersByTimeAsync(9_999);
    expect(manager.status.lastAttempt?.digest).toBe("a");
    await vi.advanceTimersByTimeAsync(1);
    const result = await applying;
    expect(result).toMatchObject({ outcome: "refused", digest: "b" });
    expect(result.findings[0]?.message).toContain(
      "hanging of pipeline chat did not start within 10000 ms",
    );
    expect(manager.live).toMatchObject({ number: 1 });
    expect(events.slice(-3)).toEqual(["stop hanging", "stop end b", "close end b"]);
  });

  it("leaves no timer behind", async () => {
    await manager.apply(snapshot("a", "outer"));
    expect(vi.getTimerCount()).toBe(0);
  });

  it("counts a generation only when it lives", async () => {
    await manager.apply(snapshot("a"));
    await manager.apply(snapshot("b", "broken"));
    await manager.apply(snapshot("c"));
    expect(manager.live).toMatchObject({ number: 2, snapshot: { digest: "c" } });
    expect(manager.status.lastAttempt).toMatchObject({ outcome: "applied", digest: "c" });
  });

  it("one at a time; of those that wait, the newest wins", async () => {
    let open: () => void = () => undefined;
    gates.set("gate a", new Promise((resolve) => (open = resolve)));
    const results = ["a", "b", "c", "d"].map((digest) => manager.apply(snapshot(digest, "gate")));
    await vi.advanceTimersByTimeAsync(0);
    expect(events.filter((event) => event.startsWith("make gate"))).toEqual(["make gate a"]);
    open();
    expect((await Promise.all(results)).map(({ outcome }) => outcome)).toEqual([
      "applied",
      "superseded",
      "superseded",
      "applied",
    ]);
    expect(manager.live).toMatchObject({ number: 2, snapshot: { digest: "d" } });
    expect(events.some((event) => event.includes("gate b") || event.includes("gate c"))).toBe(
      false,
    );
  });

  it("that runs already and is only refreshed supersedes no waiting edit", async () => {
    let open: () => void = () => undefined;
    await manager.apply(snapshot("a"));
    gates.set("gate b", new Promise((resolve) => (open = resolve)));
    const applying = manager.apply(snapshot("b", "gate"));
    await vi.advanceTimersByTimeAsync(0);
    const waiting = manager.apply(snapshot("c", "gate"));
    expect(await manager.apply(snapshot("a"), { isRefresh: true })).toMatchObject({
      outcome: "unchanged",
      generation: 1,
    });
    open();
    expect((await Promise.all([applying, waiting])).map(({ outcome }) => outcome)).toEqual([
      "applied",
      "applied",
    ]);
  });

  it("that is to replace another generation than the live one, or while an edit waits, is superseded", async () => {
    let open: () => void = () => undefined;
    await manager.apply(snapshot("a"));
    expect(await manager.apply(snapshot("b"), { replaces: 7 })).toMatchObject({
      outcome: "superseded",
    });
    gates.set("gate c", new Promise((resolve) => (open = resolve)));
    const applying = manager.apply(snapshot("c", "gate"));
    await vi.advanceTimersByTimeAsync(0);
    const late = manager.apply(snapshot("b"), { replaces: 1 });
    open();
    expect((await Promise.all([applying, late])).map(({ outcome }) => outcome)).toEqual([
      "applied",
      "superseded",
    ]);
    const back = await manager.apply(snapshot("a"), { replaces: 2, reason: "it failed" });
    expect(back).toMatchObject({ outcome: "applied", reason: "it failed" });
  });

  it("that takes too much away is refused with its digest, which forces it", async () => {
    const digest = "0123456789abcdef";
    await manager.apply(
      snapshotOf({
        digest: "a",
        models: [modelOf("one", []), modelOf("two", [])],
        pipelines: [pipelineOf(["end"])],
      }),
    );
    const shrunk = snapshotOf({ digest, pipelines: [pipelineOf(["end"])] });
    const refused = await manager.apply(shrunk);
    expect(refused).toMatchObject({ outcome: "refused", digest });
    expect(refused.findings[0]?.message).toBe("2 of 2 models would vanish: one, two.");
    expect(refused.findings[0]?.fix).toContain("--force 0123456789ab`");
    expect(await manager.apply(shrunk, { force: "0123456789aa" })).toMatchObject({
      outcome: "refused",
    });
    expect(await manager.apply(shrunk, { force: "0123" })).toMatchObject({ outcome: "refused" });
    expect(await manager.apply(shrunk, { force: "0123456789ab" })).toMatchObject({
      outcome: "applied",
      generation: 2,
    });
  });

  it("goes on counting where the history ended", async () => {
    const later = new GenerationManager(parts(), { lastNumber: 41 });
    expect(await later.apply(snapshot("a"))).toMatchObject({ outcome: "applied", generation: 42 });
  });

  it("records a candidate that could not be read", () => {
    const at = line(3);
    expect(manager.refuse([{ at, message: "m", fix: "f" }])).toMatchObject({
      outcome: "refused",
      digest: undefined,
    });
    expect(manager.status.lastAttempt?.findings).toHaveLength(1);
  });
});

describe("an old generation", () => {
  it("closes in reverse order when its last lease ends", async () => {
    await manager.apply(snapshot("a", "outer"));
    const old = manager.live;
    const leases = [holder(), holder()];
    for (const lease of leases) old?.lease(lease);
    await manager.apply(snapshot("b"));
    events.length = 0;
    expect(manager.status.draining).toEqual([old]);
    old?.release(leases[0]!);
    await vi.advanceTimersByTimeAsync(0);
    expect(events).toEqual([]);
    old?.release(leases[1]!);
    await vi.advanceTimersByTimeAsync(0);
    expect(events).toEqual(["stop outer a", "stop end a", "close end a", "close outer a"]);
    expect(manager.status.draining).toEqual([]);
    expect(leases.map(({ reason }) => reason)).toEqual([undefined, undefined]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("aborts its leaseholders at the deadline, and closes when they let go", async () => {
    await manager.apply(snapshot("a"));
    const old = manager.live;
    const lease = holder();
    old?.lease(lease);
    await manager.apply(snapshot("b"));
    await vi.advanceTimersByTimeAsync(119_999);
    expect(lease.reason).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(lease.reason).toMatchObject({ code: "overloaded" });
    expect(events).not.toContain("stop end a");
    old?.release(lease);
    await vi.advanceTimersByTimeAsync(0);
    expect(events).toContain("stop end a");
  });

  it("makes the next edit wait while eight of them drain; the newest that waits is the one that comes", async () => {
    const held: [Generation, Leaseholder][] = [];
    for (let index = 0; index <= 8; index += 1) {
      await manager.apply(snapshot(`s${index}`));
      const lease = holder();
      manager.live?.lease(lease);
      if (manager.live !== undefined) held.push([manager.live, lease]);
    }
    expect(manager.status.draining).toHaveLength(8);
    const waiting = manager.apply(snapshot("waits"));
    await vi.advanceTimersByTimeAsync(0);
    expect(manager.live?.snapshot.digest).toBe("s8");
    const newest = manager.apply(snapshot("newest"));
    expect(await waiting).toMatchObject({ outcome: "superseded" });
    expect(
      await manager.apply(snapshotOf({ digest: "x", pipelines: [pipelineOf(["outer"])] })),
    ).toMatchObject({
      outcome: "refused",
    });
    expect(await newest).toMatchObject({ outcome: "superseded" });
    const last = manager.apply(snapshot("last"));
    await vi.advanceTimersByTimeAsync(0);
    const [first, lease] = held[3]!;
    first.release(lease);
    expect(await last).toMatchObject({ outcome: "applied", digest: "last" });
    expect(manager.status.draining).toHaveLength(8);
  });

  it("does not let an edit that waits for room hold up the end", async () => {
    for (let index = 0; index <= 8; index += 1) {
      await manager.apply(snapshot(`s${index}`));
      manager.live?.lease(holder());
    }
    const waiting = manager.apply(snapshot("waits"));
    await vi.advanceTimersByTimeAsync(0);
    void manager.close(1_000);
    expect(await waiting).toMatchObject({ outcome: "superseded" });
  });

  it("keeps what a newer one shares with it", async () => {
    await manager.apply(snapshot("a", "pooled"));
    await manager.apply(snapshot("b", "pooled"));
    await vi.advanceTimersByTimeAsync(0);
    expect(shared.holders()).toEqual({ pool: 1 });
    expect(events).not.toContain("close pool");
    await manager.apply(snapshot("c"));
    await vi.advanceTimersByTimeAsync(0);
    expect(events).toContain("close pool");
  });

  it("gives back what a refused one held", async () => {
    await manager.apply(snapshot("a", "pooled"));
    await manager.apply(snapshot("b", "pooled", "broken"));
    expect(shared.holders()).toEqual({ pool: 1 });
  });
});

describe("closing the manager", () => {
  it("hands out nothing more, and waits for the leases up to the deadline", async () => {
    await manager.apply(snapshot("a"));
    const { live } = manager;
    const lease = holder();
    live?.lease(lease);
    const closing = manager.close(1_000);
    expect(manager.live).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(lease.reason).toBeDefined();
    live?.release(lease);
    await closing;
    expect(events.slice(-2)).toEqual(["stop end a", "close end a"]);
  });
});

describe("a candidate's own tests", () => {
  const failing: Finding = { at: line(30), message: "The test t fails.", fix: "Undo it." };
  let preflight: (signal: AbortSignal) => Promise<readonly Finding[]>;
  const tested: Preflight = async ({ number }, signal) => {
    events.push(`test ${number}`);
    return preflight(signal);
  };

  beforeEach(() => {
    preflight = async () => [];
    manager = new GenerationManager(parts(), { preflight: tested });
  });

  it("run once everything is made, before it serves", async () => {
    preflight = async () => {
      expect(manager.live).toBeUndefined();
      return [];
    };
    expect(await manager.apply(snapshot("a"))).toMatchObject({ outcome: "applied" });
    expect(events).toEqual(["make end a", "start end a", "test 1"]);
  });

  it("refuse it when one fails, and close what was made", async () => {
    await manager.apply(snapshot("a"));
    events.length = 0;
    preflight = async () => [failing];
    expect(await manager.apply(snapshot("b"))).toMatchObject({
      outcome: "refused",
      digest: "b",
      findings: [failing],
    });
    expect(events).toEqual(["make end b", "start end b", "test 2", "stop end b", "close end b"]);
    expect(manager.live).toMatchObject({ number: 1 });
    preflight = async () => [];
    expect(await manager.apply(snapshot("c"))).toMatchObject({ outcome: "applied", generation: 2 });
  });

  it("refuse it when they cannot be run at all", async () => {
    await manager.apply(snapshot("a"));
    events.length = 0;
    preflight = () => Promise.reject(new Error("no memory"));
    await expect(manager.apply(snapshot("b"))).rejects.toThrow("no memory");
    expect(events.slice(-2)).toEqual(["stop end b", "close end b"]);
    expect(manager.live).toMatchObject({ number: 1 });
  });

  it("are cut short by a newer candidate, which is the one that serves", async () => {
    await manager.apply(snapshot("a"));
    let isTesting: () => void;
    const testing = new Promise<void>((resolve) => (isTesting = resolve));
    preflight = async (signal) => {
      isTesting();
      if (!signal.aborted)
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      preflight = async () => [];
      return [];
    };
    const older = manager.apply(snapshot("b"));
    await testing;
    const newer = manager.apply(snapshot("c"));
    expect(await older).toMatchObject({ outcome: "superseded" });
    expect(await newer).toMatchObject({ outcome: "applied", generation: 2 });
  });

  it("are not cut short by what runs, renewed with a new secret: that waits, and then does not undo the edit", async () => {
    await manager.apply(snapshot("a"));
    let end: () => void = () => undefined;
    const testing = Promise.withResolvers<void>();
    preflight = async (signal) => {
      testing.resolve();
      await new Promise<void>((resolve) => {
        end = resolve;
        signal.addEventListener("abort", () => resolve());
      });
      return [];
    };
    const asked = manager.apply(snapshot("b"));
    await testing.promise;
    const renewal = manager.apply(snapshot("a renewed"), { isRefresh: true, hasServed: true });
    end();
    expect(await asked).toMatchObject({ outcome: "applied", digest: "b" });
    expect(await renewal).toMatchObject({ outcome: "superseded" });
    expect(manager.live?.snapshot.digest).toBe("b");
  });

  it("are not asked of contents that have served before", async () => {
    preflight = async () => [failing];
    expect(await manager.apply(snapshot("a"), { hasServed: true })).toMatchObject({
      outcome: "applied",
    });
    expect(events).not.toContain("test 1");
  });
});
