import { describe, expect, it } from "vitest";
import type { Model } from "@sluice/spec";
import { fakeExchange, fakeHost, fakeIdentity } from "@sluice/kit/testing";
import { models } from "./models.ts";

const model = (id: string): Model => ({ id, entry: id, mode: "chat", targets: [], accessGroups: [], ownedBy: "openai" });
const host = fakeHost({
  models: { find: () => undefined, list: () => ["a", "openai/*", "b", "c"].map(model) },
  authority: { headerNames: [], identify: () => undefined, keyIdOf: async () => undefined, mayUse: (_identity, { id }) => id !== "b" },
});

describe("the list of models", () => {
  it("holds what the key may use, without wildcards, in the order of the file", async () => {
    const exchange = fakeExchange({ operation: "models", identity: fakeIdentity() });
    await models.create({}, host).run({ exchange }, async () => undefined);
    const created = Math.floor(host.clock.now() / 1_000);
    expect(exchange.reply).toMatchObject({
      kind: "whole",
      status: 200,
      document: {
        value: {
          object: "list",
          data: ["a", "c"].map((id) => ({ id, object: "model", created, owned_by: "openai" })),
        },
      },
    });
  });

  it("is empty for nobody", async () => {
    const exchange = fakeExchange({ operation: "models" });
    await models.create({}, host).run({ exchange }, async () => undefined);
    expect(exchange.reply).toMatchObject({ document: { value: { data: [] } } });
  });
});
