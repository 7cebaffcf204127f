import { describe, expect, it } from "vitest";
import type { Answer, Answers, WorkerAddress } from "./ask-workers.ts";
import { joinAttempts, joinStatus } from "./join-config.ts";

const workers: WorkerAddress[] = [1, 2, 3].map((number) => ({
  number,
  pid: number,
  adminUrl: "http://127.0.0.1:1",
}));
const [one, two] = workers as [WorkerAddress, WorkerAddress];

const supervision = { expected: 2, supervisor: { pid: 9, version: "1.0.0", is_outdated: false } };

const answer = (worker: WorkerAddress, value: object, status = 200): Answer => ({
  worker,
  status,
  headers: new Headers(),
  text: JSON.stringify(value),
});
const applied = { outcome: "applied", digest: "d", generation: 7, reason: null, findings: [] };
const refused = {
  outcome: "refused",
  digest: "d",
  generation: null,
  reason: null,
  findings: [{ text: "no" }],
};
const joinedOf = (answers: Answers): Record<string, unknown> =>
  JSON.parse(joinAttempts(workers, answers).text) as Record<string, unknown>;

describe("an edit of several workers", () => {
  it("is applied when all took it; who gave no answer is named", () => {
    expect(joinedOf([answer(one, applied), answer(two, applied)])).toEqual({
      ...applied,
      workers: [
        { worker: 1, outcome: "applied", generation: 7 },
        { worker: 2, outcome: "applied", generation: 7 },
        { worker: 3, outcome: "no_answer", generation: null },
      ],
    });
  });

  it("is refused, with the findings, when one of them refused it", () => {
    const value = joinedOf([answer(one, applied), answer(two, refused)]);
    expect(value).toMatchObject({
      outcome: "refused",
      generation: null,
      findings: [{ text: "no" }],
    });
    expect(value["reason"]).toContain("worker 2 refused what worker 1 took");
  });

  it("is refused for all when the first refused it, and no other was asked", () => {
    const value = joinedOf([answer(one, refused)]);
    expect(value).toMatchObject({ outcome: "refused", reason: null });
    expect((value["workers"] as { outcome: string }[]).map(({ outcome }) => outcome)).toEqual([
      "refused",
      "not_asked",
      "not_asked",
    ]);
  });

  it("is what the others say when one does not know of it", () => {
    const unknown = { error: { message: "No canary runs." } };
    expect(joinedOf([answer(one, unknown, 404), answer(two, applied)])).toMatchObject({
      outcome: "applied",
    });
    expect(joinAttempts(workers, [answer(one, unknown, 404)]).status).toBe(404);
  });
});

describe("the status of several workers", () => {
  const status = {
    live: { generation: 1, digest: "d", leases: 2 },
    last_attempt: applied,
    canary: null,
    shadows: [],
    draining: [],
  };

  it("has the counts of all, and whatever waits anywhere", () => {
    const shadow = {
      pipeline: "chat",
      step: "says",
      file: "f",
      line: 1,
      runs: 2,
      refused: 1,
      answered: 0,
      changed: 0,
      failed: 0,
    };
    const canary = {
      generation: 2,
      leases: 1,
      requests: 5,
      errors: 1,
      p99_ms: 9,
      others: { requests: 7, errors: 0, p99_ms: null },
    };
    const first = { ...status, shadows: [shadow], canary, waiting_for_restart: ["a"] };
    const second = { ...first, canary: { ...canary, p99_ms: 12 }, waiting_for_restart: ["a", "b"] };
    const values = [
      { worker: one, value: first },
      { worker: two, value: second },
    ];
    expect(joinStatus(values, [one, two], supervision)).toMatchObject({
      live: { leases: 4 },
      shadows: [{ runs: 4, refused: 2 }],
      canary: { requests: 10, errors: 2, p99_ms: 12, others: { requests: 14, p99_ms: null } },
      waiting_for_restart: ["a", "b"],
      workers_agree: true,
    });
  });

  it("shows an attempt that one of them refused, and that they do not agree", () => {
    const other = { ...status, live: { ...status.live, digest: "e" }, last_attempt: refused };
    const values = [
      { worker: one, value: status },
      { worker: two, value: other },
    ];
    expect(joinStatus(values, [one, two], supervision)).toMatchObject({
      workers_agree: false,
      last_attempt: { outcome: "refused" },
    });
  });

  it("names a worker that does not answer, and is a status when none does", () => {
    const still = { ...two, silentMs: 5_000.4, heldBy: "check (file:///srv/mine.ts:9)" };
    const named = {
      worker: 2,
      answers: false,
      generation: null,
      silent_ms: 5_000,
      held_by: "check (file:///srv/mine.ts:9)",
    };
    expect(joinStatus([{ worker: one, value: status }], [one, still], supervision)).toMatchObject({
      workers_agree: true,
      workers: [{ worker: 1, answers: true }, named],
    });
    expect(joinStatus([], [still], supervision)).toMatchObject({
      live: null,
      canary: null,
      draining: [],
      waiting_for_restart: [],
      workers_expected: 2,
      workers: [named],
    });
  });
});
