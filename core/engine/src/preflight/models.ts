/** The models `sluice-test/NAME`, which every test can use with any configuration. */

import type { Model, ModelCatalog, ModelMode, Operation, Price } from "@sluice/contract";
import { TEST_PROVIDER } from "./providers.ts";

const PREFIX = `${TEST_PROVIDER}/`;
const MODES: Partial<Record<Operation, ModelMode>> = { embeddings: "embedding", images: "image" };
/**
 * $1 for a million prompt tokens, $2 for a million completion tokens, 2 cents for an image: costs
 * are easy to check by eye.
 */
const PRICE: Price = Object.freeze({
  input: 1_000_000,
  output: 2_000_000,
  images: [{ picoUsd: 2e10 }],
  source: TEST_PROVIDER,
});

/** The catalogue with the models of the tests. Lists do not show them. */
export function withTestModels(real: ModelCatalog, operation: Operation): ModelCatalog {
  return {
    find: (id) =>
      id.startsWith(PREFIX) && id.length > PREFIX.length ? testModel(id, operation) : real.find(id),
    list: () => real.list(),
  };
}

function testModel(id: string, operation: Operation): Model {
  const model = id.slice(PREFIX.length);
  const price =
    operation === "images" ? { images: PRICE.images ?? [], source: PRICE.source } : PRICE;
  return {
    id,
    entry: id,
    mode: MODES[operation] ?? "chat",
    targets: [{ id, provider: TEST_PROVIDER, model, price }],
    accessGroups: [],
    ownedBy: TEST_PROVIDER,
  };
}
