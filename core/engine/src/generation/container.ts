/**
 * The containers: one for the process, a child for each generation, none for a request. Values and factories only; they
 * resolve, and never dispose: closing is the scope's work.
 */

import "reflect-metadata";
import { container as root, type DependencyContainer, instancePerContainerCachingFactory } from "tsyringe";
import type {
  Authority,
  Clock,
  GuardrailCatalog,
  LedgerReader,
  Log,
  Metrics,
  ModelCatalog,
  ProviderCatalog,
  SharedState,
  TokenCounter,
} from "@sluice/spec";
import type { Snapshot } from "../config/snapshot.ts";
import type { Definitions } from "../registry/definitions.ts";
import type { KeyRing } from "../resources/key-ring.ts";
import type { SharedPool } from "../resources/shared-pool.ts";
import { createAuthority } from "./authority.ts";
import { createGuardrails } from "./guardrails.ts";
import { createHostFactory } from "./host.ts";
import { createCatalog } from "./models.ts";
import { createProviders } from "./providers.ts";
import type { ClosingScope } from "./scope.ts";
import { GENERATION, PROCESS } from "./tokens.ts";

/** What the process hands to every generation. */
export interface ProcessParts {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly definitions: Definitions;
  readonly shared: SharedPool;
  readonly keyRing: KeyRing;
  readonly ledger: LedgerReader;
  readonly tokens: TokenCounter;
  readonly state: SharedState;
}

/** What a rehearsal puts in the place of a generation's parts, most of them around the real ones. */
export interface StandIns {
  authority(real: Authority): Authority;
  catalog(real: ModelCatalog): ModelCatalog;
  providers(real: ProviderCatalog): ProviderCatalog;
  /** Those of the candidate: they were started, and judged their samples, there. */
  readonly guardrails: GuardrailCatalog;
}

/** The process's container. */
export function createProcessContainer(parts: ProcessParts): DependencyContainer {
  const container = root.createChildContainer();
  for (const name of Object.keys(PROCESS) as (keyof typeof PROCESS)[]) {
    container.register(PROCESS[name], { useValue: parts[name] });
  }
  return container;
}

/** A generation's container. Everything in it is made on first use and belongs to this generation alone. */
export function createGenerationContainer(
  parent: DependencyContainer,
  parts: { readonly number: number; readonly snapshot: Snapshot; readonly scope: ClosingScope },
  standIns?: StandIns,
): DependencyContainer {
  const container = parent.createChildContainer();
  container.register(GENERATION.number, { useValue: parts.number });
  container.register(GENERATION.snapshot, { useValue: parts.snapshot });
  container.register(GENERATION.scope, { useValue: parts.scope });
  const once = (token: symbol, make: (from: DependencyContainer) => unknown): void => {
    container.register(token, { useFactory: instancePerContainerCachingFactory(make) });
  };
  const { snapshot } = parts;
  const made = <T>(real: T, standIn: ((real: T) => T) | undefined): T => (standIn === undefined ? real : standIn(real));
  once(GENERATION.catalog, () => made(createCatalog(snapshot), standIns?.catalog));
  once(GENERATION.authority, (from) => made(createAuthority(snapshot, from.resolve(PROCESS.keyRing)), standIns?.authority));
  once(GENERATION.providers, (from) => {
    const real = createProviders(snapshot, from.resolve(PROCESS.definitions), from.resolve(GENERATION.hostFor));
    return made(real, standIns?.providers);
  });
  once(GENERATION.guardrails, (from) => {
    if (standIns !== undefined) return standIns.guardrails;
    return createGuardrails(snapshot, from.resolve(PROCESS.definitions), from.resolve(GENERATION.hostFor));
  });
  once(GENERATION.hostFor, createHostFactory);
  return container;
}
