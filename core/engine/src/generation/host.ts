/** Hosts: what the plugins of one generation may touch. */

import type { Host, Log } from "@sluice/contract";
import { prefixedState } from "@sluice/kit/internals";
import { seedDirectory } from "../config/prices/seed-models.ts";
import { withFields } from "../telemetry/log.ts";
import { pluginMetrics } from "../telemetry/metrics.ts";
import type { GenerationParts, HostFactory } from "./parts.ts";
import { pluginScope } from "./scope.ts";

/** The host factory of a generation. */
export function createHostFactory(parts: GenerationParts): HostFactory {
  const { scope, number: generation, snapshot } = parts;
  const { shared, log, metrics, state, clock, ledger, tokens, sealer } = parts.process;
  const { steps } = parts.process.definitions;
  const sharedStateSteps = new Set(
    [...steps.values()]
      .filter(({ traits }) => traits?.sharesState === true)
      .map(({ name }) => name),
  );
  const makeHost = (plugin: string, ownLog: Log): Host => ({
    log: ownLog,
    metrics: pluginMetrics(metrics, plugin),
    clock,
    scope: pluginScope(scope, ownLog),
    generation,
    shared(key, make) {
      scope.defer(() => shared.release(key));
      return shared.acquire(key, make);
    },
    models: parts.catalog,
    authority: parts.authority,
    // A provider is created with its own host: the catalogue is read on first use.
    get providers() {
      return parts.providers;
    },
    get guardrails() {
      return parts.guardrails;
    },
    prices: snapshot.prices,
    directory: seedDirectory,
    timeZone: snapshot.server.timeZone,
    ledger,
    tokens,
    sealer,
    state: sharedStateSteps.has(plugin) ? state : prefixedState(state, `plugin:${plugin}:`),
  });
  return (plugin) => makeHost(plugin, withFields(log, { plugin, generation }));
}
