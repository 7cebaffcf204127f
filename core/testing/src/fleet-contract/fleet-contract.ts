/** The contract of the fleet at rest: what every store that keeps instances and rollouts passes. */

import type { InstanceReport, RolloutDraft, RolloutReport, Store } from "@sluice/contract";
import type { Runner } from "../shared-state/index.ts";

/** A report with the parts that a test needs. */
function reportOf(parts: Partial<InstanceReport> = {}): InstanceReport {
  return {
    id: "one",
    worker: 0,
    name: "web-1",
    version: "1.0.0",
    adminUrl: "http://127.0.0.1:4001",
    dataDirectory: "/data",
    state: "serving",
    workers: 1,
    startedAtMs: 1_900_000_000_000,
    generation: 1,
    sinceMs: 1_900_000_000_000,
    digest: "digest",
    contents: "contents",
    canary: null,
    refused: null,
    ...parts,
  };
}

function draftOf(parts: Partial<RolloutDraft> = {}): RolloutDraft {
  return {
    source: "store",
    kind: "push",
    contents: "contents",
    files: { "gateway.yaml": "models: []\n", "pipelines/ü.yaml": "\u0000" },
    contentsOf: null,
    base: null,
    plan: null,
    isForced: false,
    author: "ada",
    instance: "one",
    reason: null,
    effects: ["danger  model a: is removed"],
    endsAfterMs: 60_000,
    ...parts,
  };
}

function reportAt(parts: Partial<RolloutReport> = {}): RolloutReport {
  return {
    instance: "one",
    process: "p1",
    outcome: "canary",
    reasons: [],
    evidence: { requests: 1 },
    ...parts,
  };
}

const PLAN = { share: 0.05, forMs: 1_000, minRequests: 20, errorRate: 0.05, p99Ms: null };

/**
 * Runs the suite against stores on one new database: two processes of a fleet. `make` is called for
 * each test.
 */
export function fleetStoreContract(
  runner: Runner,
  name: string,
  make: () => Promise<readonly [Store, Store]>,
): void {
  const stores = async () => {
    const [first, second] = await make();
    const parts = [first.instances, second.instances, first.rollouts, second.rollouts] as const;
    const [here, there, mine, theirs] = parts;
    if (!here || !there || !mine || !theirs) throw new Error("the store keeps no fleet");
    return { here, there, mine, theirs };
  };
  runner.describe(`a fleet at rest: ${name}`, () => {
    instanceTests(runner, stores);
    rolloutTests(runner, stores);
  });
}

type Stores = () => Promise<{
  readonly here: NonNullable<Store["instances"]>;
  readonly there: NonNullable<Store["instances"]>;
  readonly mine: NonNullable<Store["rollouts"]>;
  readonly theirs: NonNullable<Store["rollouts"]>;
}>;

function instanceTests({ it, expect }: Runner, stores: Stores): void {
  it("has the last report of each process, with the time of one clock", async () => {
    const { here, there } = await stores();
    expect(await here.list(10)).toEqual({ nowMs: 0, records: [] });
    await here.report(reportOf());
    await there.report(
      reportOf({ id: "two", worker: 1, refused: { contents: null, reasons: ["a"] } }),
    );
    await here.report(reportOf({ generation: 2, canary: "others" }));
    const { nowMs, records } = await there.list(10);
    expect(records.map(({ seenAtMs: _seen, ...report }) => report)).toEqual([
      reportOf({ generation: 2, canary: "others" }),
      reportOf({ id: "two", worker: 1, refused: { contents: null, reasons: ["a"] } }),
    ]);
    for (const { seenAtMs } of records) {
      expect(seenAtMs <= nowMs).toBe(true);
      expect(nowMs - seenAtMs < 60_000).toBe(true);
    }
    expect((await there.list(1)).records.map(({ id }) => id)).toEqual(["one"]);
  });

  it("deletes the reports of processes that leave, and old ones", async () => {
    const { here, there } = await stores();
    await here.report(reportOf());
    await there.report(reportOf({ id: "two", worker: 1 }));
    expect(await here.leave("two", 0)).toBe(false);
    await here.report(reportOf({ id: "two", worker: 2 }));
    expect((await there.list(10)).records.length).toBe(3);
    expect(await here.leave("two", 1)).toBe(true);
    expect((await there.list(10)).records.length).toBe(2);
    expect(await here.leave("two")).toBe(true);
    expect((await there.list(10)).records.map(({ id }) => id)).toEqual(["one"]);
    await here.expire(60_000);
    expect((await there.list(10)).records.length).toBe(1);
    await here.expire(-1_000);
    expect((await there.list(10)).records).toEqual([]);
  });
}

function rolloutTests({ it, expect }: Runner, stores: Stores): void {
  it("gives each rollout the next number, to one of several callers", async () => {
    const { mine, theirs } = await stores();
    expect((await mine.newest("store")).record).toBeUndefined();
    const draft = draftOf({ reason: "it failed" });
    const begun = await Promise.all([mine, theirs, mine, theirs].map((one) => one.begin(draft, 0)));
    expect(begun.filter((id) => id !== undefined)).toEqual([1]);
    expect(await mine.begin(draftOf({ source: "files", files: null }), 0)).toBe(1);
    const { record, nowMs } = await theirs.newest("store");
    const { files, endsAfterMs, ...common } = draft;
    const { atMs = 0, endsAtMs = 0, ...stored } = record ?? {};
    expect(stored).toEqual({ ...common, id: 1, stage: "all" });
    expect(endsAtMs - atMs).toBe(endsAfterMs);
    expect(atMs <= nowMs).toBe(true);
    expect(await theirs.files(1)).toEqual(files);
    expect(await theirs.files(9)).toBeUndefined();
    expect(await theirs.find("store", 9)).toBeUndefined();
    expect((await theirs.find("files", 1))?.source).toBe("files");
  });

  it("ends a canary once: by one of several callers, or by the next rollout", async () => {
    const { mine, theirs } = await stores();
    await mine.begin(draftOf(), 0);
    await mine.begin(draftOf({ plan: PLAN, base: 1, kind: "rollback", contentsOf: 1 }), 1);
    expect((await theirs.newest("store")).record?.plan).toEqual(PLAN);
    const decided = await Promise.all([
      mine.decide("store", 2, "returned", "it failed"),
      theirs.decide("store", 2, "promoted", "its time is over"),
      mine.decide("store", 1, "returned", "it is none"),
    ]);
    expect(decided.filter(Boolean).length).toBe(1);
    const ended = await mine.find("store", 2);
    expect(ended?.stage === "returned" ? ended.reason : "it failed").toBe("it failed");
    await mine.begin(draftOf({ plan: PLAN, base: 1 }), 2);
    await theirs.begin(draftOf({ base: 1 }), 3);
    expect((await mine.list("store", 3)).map(({ id, stage }) => `${id} ${stage}`)).toEqual([
      "4 all",
      "3 returned",
      `2 ${ended?.stage ?? ""}`,
    ]);
  });

  it("has the last report of each process about a rollout", async () => {
    const { mine, theirs } = await stores();
    await mine.begin(draftOf(), 0);
    await mine.report("store", 1, reportAt());
    await theirs.report(
      "store",
      1,
      reportAt({ process: "p2", outcome: "refused", reasons: ["no"] }),
    );
    await mine.report("store", 1, reportAt({ outcome: "applied", evidence: null }));
    const found = await theirs.reports("store", 1);
    expect(found.toSorted((a, b) => (a.process < b.process ? -1 : 1))).toEqual([
      reportAt({ outcome: "applied", evidence: null }),
      reportAt({ process: "p2", outcome: "refused", reasons: ["no"] }),
    ]);
    expect(await mine.reports("files", 1)).toEqual([]);
  });

  it("prunes old rollouts, and keeps the one that serves", async () => {
    const { mine, theirs } = await stores();
    await mine.begin(draftOf({ source: "files", files: null }), 0);
    await mine.begin(draftOf(), 0);
    for (const newest of [1, 2]) await mine.begin(draftOf({ plan: PLAN, base: 1 }), newest);
    await mine.begin(draftOf({ base: 1 }), 3);
    for (const process of ["p1", "p2"]) await mine.report("store", 4, reportAt({ process }));
    await mine.prune("store", 9);
    expect((await theirs.list("store", 9)).map(({ id }) => id)).toEqual([4, 3, 2, 1]);
    await mine.prune("store", 1);
    expect((await theirs.list("store", 9)).map(({ id }) => id)).toEqual([4, 1]);
    expect((await theirs.reports("store", 4)).length).toBe(2);
    expect((await theirs.list("files", 9)).length).toBe(1);
  });
}
