import { expect, it } from "vitest";
import { RecentRequests } from "./recent-requests.ts";

const make = (): { id: string } => ({ id: "" });

it("keeps the newest requests, so many and no more, in as many records", () => {
  const recent = new RecentRequests(3, make);
  const records = new Set<object>();
  for (let id = 1; id <= 10; id += 1) {
    const record = recent.next("notable");
    record.id = String(id);
    records.add(record);
  }
  expect([7, 8, 9, 10, 11].map((id) => recent.find(String(id))?.id)).toEqual([
    undefined,
    "8",
    "9",
    "10",
    undefined,
  ]);
  expect(records.size).toBe(3);
});

it("pushes no notable request out for unauthenticated and clean ones, of which it keeps fewer", () => {
  const recent = new RecentRequests(1_000, make);
  recent.next("notable").id = "notable";
  for (let id = 1; id <= 5_000; id += 1) {
    recent.next("unauthenticated").id = `unauthenticated ${id}`;
    recent.next("clean").id = `clean ${id}`;
  }
  const ids = [
    "notable",
    "unauthenticated 4900",
    "unauthenticated 4901",
    "clean 4800",
    "clean 4801",
  ];
  expect(ids.map((id) => recent.find(id) !== undefined)).toEqual([true, false, true, false, true]);
});

it("keeps failures of one key whatever another key fails or is refused", () => {
  const recent = new RecentRequests(100, make);
  for (let id = 1; id <= 5; id += 1) recent.next("notable", "victim").id = `victim ${id}`;
  for (let id = 1; id <= 1_000; id += 1) {
    recent.next("refused", "attacker").id = `refused ${id}`;
    recent.next("notable", "attacker").id = `failed ${id}`;
  }
  for (let id = 6; id <= 10; id += 1) recent.next("notable", "other").id = `other ${id}`;
  for (let id = 1; id <= 5; id += 1) expect(recent.find(`victim ${id}`)?.id).toBe(`victim ${id}`);
  // What no other key needs, the attacker keeps: 95, and 5 of them went to the other key.
  expect(
    ["failed 910", "failed 911", "other 6"].map((id) => recent.find(id) !== undefined),
  ).toEqual([false, true, true]);
});

it("writes refusals over refusals, one key over its own", () => {
  const recent = new RecentRequests(1_000, make);
  recent.next("refused", "victim").id = "victim";
  for (let id = 1; id <= 1_000; id += 1) recent.next("refused", "attacker").id = `refused ${id}`;
  expect(
    ["victim", "refused 801", "refused 802"].map((id) => recent.find(id) !== undefined),
  ).toEqual([true, false, true]);
});

it("is off where nothing is to be kept", () => {
  expect([0, 1].map((capacity) => new RecentRequests(capacity, make).isOn)).toEqual([false, true]);
});
