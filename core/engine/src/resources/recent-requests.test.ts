import { expect, it } from "vitest";
import { RecentRequests } from "./recent-requests.ts";

const make = (): { id: string } => ({ id: "" });

it("keeps the newest requests, so many and no more, in as many records", () => {
  const recent = new RecentRequests(3, make);
  const records = new Set<object>();
  for (let id = 1; id <= 10; id += 1) {
    const record = recent.next(false);
    record.id = String(id);
    records.add(record);
  }
  expect([7, 8, 9, 10, 11].map((id) => recent.find(String(id))?.id)).toEqual([undefined, "8", "9", "10", undefined]);
  expect(records.size).toBe(3);
});

it("pushes nobody's request out for those of strangers, of which it keeps a hundred", () => {
  const recent = new RecentRequests(1_000, make);
  recent.next(false).id = "known";
  for (let id = 1; id <= 5_000; id += 1) recent.next(true).id = String(id);
  const kept = ["known", "1", "4900", "4901", "5000"].map((id) => recent.find(id) !== undefined);
  expect(kept).toEqual([true, false, false, true, true]);
});

it("is off where nothing is to be kept", () => {
  expect([0, 1].map((capacity) => new RecentRequests(capacity, make).isOn)).toEqual([false, true]);
});
