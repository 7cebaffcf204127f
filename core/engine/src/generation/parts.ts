/** The parts of a generation, typed and made on first use. Closing is the scope's work. */

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
  Sealer,
  SharedState,
  TokenCounter,
} from "@sluice/contract";
import type { Snapshot } from "../config/snapshot.ts";
import type { Definitions } from "../registry/definitions.ts";
import type { KeyRing } from "../resources/key-ring.ts";
import type { SharedPool } from "../resources/shared-pool.ts";
import type { ClosingScope } from "./scope.ts";

/** The parts that the process gives to every generation. */
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
  readonly sealer: Sealer;
}

/** The parts of one generation, besides those of its process. */
export interface GenerationParts {
  readonly process: ProcessParts;
  readonly number: number;
  readonly snapshot: Snapshot;
  readonly scope: ClosingScope;
  readonly catalog: ModelCatalog;
  readonly authority: Authority;
  /** Made on first use: each provider is made with a host. */
  readonly providers: ProviderCatalog;
  /** Made on first use: each guardrail is made with a host. */
  readonly guardrails: GuardrailCatalog;
  readonly hostFor: HostFactory;
}

/** Makes the host of one plugin; `plugin` marks its log lines. */
export type HostFactory = (plugin: string) => Host;

/** The replacements of a generation's parts in a preflight, most of them wrappers. */
export interface StandIns {
  authority(real: Authority): Authority;
  catalog(real: ModelCatalog): ModelCatalog;
  providers(real: ProviderCatalog): ProviderCatalog;
  /** The candidate's guardrails, which were started and have checked their samples. */
  readonly guardrails: GuardrailCatalog;
}
