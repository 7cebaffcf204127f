/** Hosts: what the plugins of one generation may touch. */

import type { DependencyContainer } from "tsyringe";
import type {
  Authority,
  Clock,
  GuardrailCatalog,
  Host,
  LedgerReader,
  Log,
  Metrics,
  ModelCatalog,
  ProviderCatalog,
  SharedState,
  TokenCounter,
} from "@sluice/spec";
import { prefixedState } from "@sluice/kit/state";
import { seedDirectory } from "../config/price-seed-models.ts";
import type { Snapshot } from "../config/snapshot.ts";
import type { Definitions } from "../registry/definitions.ts";
import type { SharedPool } from "../resources/shared-pool.ts";
import { withFields } from "../telemetry/log.ts";
import { pluginMetrics } from "../telemetry/metrics.ts";
import { type ClosingScope, pluginScope } from "./scope.ts";
import { GENERATION, PROCESS } from "./tokens.ts";

/** Makes the host of one plugin; `plugin` marks its log lines. */
export type HostFactory = (plugin: string) => Host;

/** The host factory of a generation's container. */
export function createHostFactory(container: DependencyContainer): HostFactory {
  const scope = container.resolve<ClosingScope>(GENERATION.scope);
  const shared = container.resolve<SharedPool>(PROCESS.shared);
  const generation = container.resolve<number>(GENERATION.number);
  const snapshot = container.resolve<Snapshot>(GENERATION.snapshot);
  const log = container.resolve<Log>(PROCESS.log);
  const metrics = container.resolve<Metrics>(PROCESS.metrics);
  const state = container.resolve<SharedState>(PROCESS.state);
  const { steps } = container.resolve<Definitions>(PROCESS.definitions);
  const isTold = new Set([...steps.values()].filter(({ sharesState }) => sharesState === true).map(({ name }) => name));
  const makeHost = (plugin: string, ownLog: Log): Host => ({
    log: ownLog,
    metrics: pluginMetrics(metrics, plugin),
    clock: container.resolve<Clock>(PROCESS.clock),
    scope: pluginScope(scope, ownLog),
    generation,
    shared(key, make) {
      scope.defer(() => shared.release(key));
      return shared.acquire(key, make);
    },
    models: container.resolve<ModelCatalog>(GENERATION.catalog),
    authority: container.resolve<Authority>(GENERATION.authority),
    // A provider is made with a host of its own: the catalogue is resolved when a step asks for it.
    get providers() {
      return container.resolve<ProviderCatalog>(GENERATION.providers);
    },
    get guardrails() {
      return container.resolve<GuardrailCatalog>(GENERATION.guardrails);
    },
    prices: snapshot.prices,
    directory: seedDirectory,
    timeZone: snapshot.server.timeZone,
    ledger: container.resolve<LedgerReader>(PROCESS.ledger),
    tokens: container.resolve<TokenCounter>(PROCESS.tokens),
    state: isTold.has(plugin) ? state : prefixedState(state, `plugin:${plugin}:`),
  });
  return (plugin) => makeHost(plugin, withFields(log, { plugin, generation }));
}
