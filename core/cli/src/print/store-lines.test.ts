import { describe, expect, it } from "vitest";
import { storeLines } from "./store-lines.ts";

describe("lines about the store", () => {
  it("say nothing while all is well", () => {
    const leader = { holder: "a", jobs: [{ job: "retention", at: "now", error: null }] };
    const store = { away: false, serves: "all", changes_age_ms: 300 };
    expect(storeLines({ store, leader })).toEqual([]);
    expect(storeLines({ store: null, leader: null })).toEqual([]);
    expect(storeLines({})).toEqual([]);
  });

  it("name an outage with its effect, and jobs that failed", () => {
    const known = { away: true, serves: "known", changes_age_ms: 12_400 };
    expect(storeLines({ store: known })).toEqual([
      "the store does not answer for 12 s: known keys are served, up to store.max_staleness",
    ]);
    expect(storeLines({ store: { ...known, serves: "none", changes_age_ms: null } })).toEqual([
      "the store does not answer: requests with keys of the store are refused",
    ]);
    const jobs = [{ job: "retention", at: "2026-11-28T00:00:00.000Z", error: "no disk" }];
    expect(storeLines({ leader: { holder: "a/0/7", jobs } })).toEqual([
      "warning: the job retention of the leader a/0/7 failed at 2026-11-28T00:00:00.000Z: no disk",
    ]);
  });
});
