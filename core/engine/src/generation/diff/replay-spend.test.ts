import { describe, expect, it } from "vitest";
import type { Price, SpendRow } from "@sluice/contract";
import type { ModelSettings } from "../../config/snapshot.ts";
import { modelOf, pipelineOf, providerOf, snapshotOf } from "../../pipeline/snapshot.fixture.ts";
import { readRequestGroups } from "./ledger-requests.ts";
import { rowOf, sourcesOf } from "./ledger-rows.fixture.ts";
import { replay } from "./replay.ts";

/** Pico-dollars a token. */
const CHEAP: Price = { input: 1_000_000, output: 2_000_000, source: "test" };
const DEAR: Price = { input: 3_000_000, output: 6_000_000, source: "test" };

const priced = (model: ModelSettings, ...prices: (Price | undefined)[]): ModelSettings => ({
  ...model,
  targets: model.targets.map((target, index) => ({
    ...target,
    ...(prices[index] === undefined ? {} : { price: prices[index] }),
  })),
});

const withModels = (...models: ModelSettings[]) =>
  snapshotOf({
    providers: ["openai", "azure"].map((name) => providerOf(name)),
    models,
    pipelines: [pipelineOf(["auth", "provider"])],
  });

const gpt = modelOf("gpt", ["openai/gpt"]);
const live = withModels(priced(gpt, CHEAP));

/** Requests for gpt; 1,000 and 500 tokens cost 2,000 nano-dollars at the cheap price. */
async function spend(candidate: typeof live, ...uses: Partial<SpendRow>[]) {
  const rows = uses.map((use) =>
    rowOf({ promptTokens: 1_000, completionTokens: 500, costNanoUsd: 2_000, ...use }),
  );
  return replay(await readRequestGroups(sourcesOf(rows)), live, candidate).spend;
}

const sums = (
  requests: number,
  did: number,
  least: number,
  most = least,
  refused = 0,
  unknown = 0,
) => ({
  requests,
  didCostNanoUsd: did,
  wouldCostNanoUsd: { least, most },
  refusedNanoUsd: refused,
  unknown,
});

describe("the money of a replay", () => {
  it("is what it was where nothing changes, to the nano-dollar", async () => {
    expect(await spend(live, {}, { costNanoUsd: 1_234 })).toEqual(sums(2, 3_234, 3_234));
  });

  it("is that of the candidate's prices", async () => {
    expect(await spend(withModels(priced(gpt, DEAR)), {}, {})).toEqual(sums(2, 4_000, 12_000));
    expect(await spend(withModels(priced(modelOf("gpt", ["azure/gpt"]), DEAR)), {})).toEqual(
      sums(1, 2_000, 6_000),
    );
  });

  it("is dearer by as much as the tokens are: what came from a cache at half the price still does", async () => {
    expect(await spend(withModels(priced(gpt, DEAR)), { costNanoUsd: 1_000 })).toEqual(
      sums(1, 1_000, 3_000),
    );
  });

  it("lies between the cheapest and the dearest target where several may be called", async () => {
    const both = withModels(priced(modelOf("gpt", ["openai/gpt", "azure/gpt"]), CHEAP, DEAR));
    expect(await spend(both, {})).toEqual(sums(1, 2_000, 2_000, 6_000));
  });

  it("is nothing for what would be refused, which is summed up apart", async () => {
    expect(await spend(withModels(modelOf("other", ["openai/other"])), {}, {})).toEqual(
      sums(2, 4_000, 0, 0, 4_000),
    );
  });

  it("is not made up: without a price, tokens or a cost of then a request is unknown", async () => {
    expect(await spend(withModels(modelOf("gpt", ["openai/gpt"])), {}, {})).toEqual(
      sums(0, 0, 0, 0, 0, 2),
    );
    expect(await spend(withModels(priced(gpt, DEAR)), {}, { costNanoUsd: null })).toEqual(
      sums(1, 2_000, 6_000, 6_000, 0, 1),
    );
    expect(
      await spend(withModels(priced(gpt, DEAR)), { promptTokens: null, completionTokens: null }),
    ).toEqual(sums(0, 0, 0, 0, 0, 1));
    const free = withModels(priced(gpt, { input: 0, output: 0, free: true, source: "test" }));
    expect(await spend(free, {})).toEqual(sums(1, 2_000, 0));
  });
});
