import { describe, expect, it } from "vitest";
import { readRequestGroups } from "./ledger-requests.ts";
import { rowOf, sourcesOf } from "./ledger-rows.fixture.ts";

const key = { kind: "key", keyId: "k1", models: [] };

describe("requests of the ledger", () => {
  it("are grouped by call type, model, key and provider", async () => {
    const rows = [
      rowOf({ promptTokens: 10, completionTokens: 1, costNanoUsd: 5 }),
      rowOf({ promptTokens: 30, completionTokens: 2, costNanoUsd: 7 }),
      rowOf({ promptTokens: 20, costNanoUsd: null }),
      rowOf({ callType: "passthrough", model: "", targetId: "azure/gpt-4o", costNanoUsd: 1 }),
      rowOf({ keyId: "master" }),
    ];
    const groups = await readRequestGroups(sourcesOf(rows));
    const none = { known: 0, promptTokens: 0, completionTokens: 0, costNanoUsd: 0 };
    expect(groups.toReversed()).toEqual([
      {
        callType: "chat",
        model: "gpt",
        provider: "",
        key,
        tags: [],
        promptTokens: [20, 30, 10],
        count: 3,
        bill: { known: 2, promptTokens: 40, completionTokens: 3, costNanoUsd: 12 },
      },
      {
        callType: "passthrough",
        model: "",
        provider: "azure",
        key,
        tags: [],
        promptTokens: [],
        count: 1,
        bill: { ...none, known: 1, costNanoUsd: 1 },
      },
      {
        callType: "chat",
        model: "gpt",
        provider: "",
        key: { kind: "master", keyId: "master", models: [] },
        tags: [],
        promptTokens: [],
        count: 1,
        bill: none,
      },
    ]);
  });

  it("have the model of their first attempt, the tokens of the one that succeeded and the cost of all", async () => {
    const [requestId, startedAtMs] = ["one", 1];
    const failed = {
      requestId,
      startedAtMs,
      status: "failure",
      costNanoUsd: 3,
      promptTokens: 9,
    } as const;
    const rows = [
      rowOf({ ...failed, attempt: 1 }),
      rowOf({
        ...failed,
        attempt: 2,
        model: "standby",
        status: "success",
        promptTokens: 12,
        completionTokens: 4,
      }),
      rowOf({ ...failed, attempt: 3, model: "standby" }),
    ];
    const bill = { known: 1, promptTokens: 12, completionTokens: 4, costNanoUsd: 9 };
    expect(await readRequestGroups(sourcesOf(rows))).toMatchObject([
      { model: "gpt", promptTokens: [12], count: 1, bill },
    ]);
    const unpriced = [...rows, rowOf({ ...failed, attempt: 4, costNanoUsd: null })];
    expect(await readRequestGroups(sourcesOf(unpriced))).toMatchObject([{ bill: { known: 0 } }]);
  });

  it("count as often as a row stands for", async () => {
    const refused = {
      status: "failure",
      attempt: 0,
      targetId: null,
      costNanoUsd: 0,
      requests: 7,
    } as const;
    const rows = [rowOf(refused), rowOf({ ...refused, callType: "" })];
    expect(await readRequestGroups(sourcesOf(rows))).toMatchObject([
      { count: 7, bill: { known: 7 } },
    ]);
  });

  it("have the lists that the key and its team have now", async () => {
    const rows = [rowOf({ teamId: "t" }), rowOf({ keyId: "gone" })];
    const groups = await readRequestGroups(sourcesOf(rows, { k1: ["gpt"], t: ["small"] }));
    expect(groups.map((group) => group.key)).toEqual([
      { kind: "key", keyId: "gone", models: [] },
      { kind: "key", keyId: "k1", models: ["gpt"], modelBounds: [["small"]], teamId: "t" },
    ]);
  });

  it("are those of the newest 10,000 rows", async () => {
    const rows = Array.from({ length: 10_500 }, (_, index) =>
      rowOf({ model: index < 500 ? "old" : "new" }),
    );
    expect(await readRequestGroups(sourcesOf(rows))).toMatchObject([
      { model: "new", count: 10_000 },
    ]);
  });
});
