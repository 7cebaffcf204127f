import { expect, it } from "vitest";
import type { ProviderCatalog } from "@sluice/contract";
import { ScriptedUpstreamLog } from "./upstream-log.ts";
import { sandboxProviders, TEST_PROVIDER } from "./providers.ts";

const none: ProviderCatalog = { find: () => undefined, names: () => [] };

it("waits a tenth of a second for an upstream that falls silent, and longer than any test for one that answers", () => {
  const idleMs = (outcomes: ConstructorParameters<typeof ScriptedUpstreamLog>[0]) =>
    sandboxProviders(none, new ScriptedUpstreamLog(outcomes)).find(TEST_PROVIDER)?.timeouts.idleMs;
  expect([idleMs([{ silent: true }]), idleMs([{}, { silent_after: 1 }])]).toEqual([100, 100]);
  expect([idleMs([{ reply: "ok" }]), idleMs(undefined)]).toEqual([60_000, 60_000]);
});
