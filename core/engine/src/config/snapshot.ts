/** The snapshot: everything the configuration says, checked, resolved and frozen. */

import type {
  BalanceStrategy,
  BudgetAnchor,
  BudgetShare,
  FallbackClass,
  GuardrailSettings,
  LimitBlock,
  MediaFetchSettings,
  ModelInfo,
  ModelMode,
  OpenEndpoints,
  OpenObjects,
  Operation,
  Price,
  PriceTable,
  ProviderTimeouts,
  RecordLimits,
  Secret,
  SpendScope,
  TagMatch,
  TeamRecord,
} from "@sluice/contract";

import type { DeclaredTenants } from "./tenants/declared-tenants.ts";
import type { Position } from "./files/position.ts";
import type { ServerSettings } from "./server-settings.ts";

import type { PoliciesSection } from "./schema/policies.ts";
import type {
  TestExpectSection,
  TestKeySection,
  TestOutcomeSection,
} from "./schema/pipeline-tests.ts";

export type { Position } from "./files/position.ts";
export type {
  AutoRollbackSettings,
  CorsSettings,
  KeyDefaults,
  ServerSettings,
  TlsSettings,
} from "./server-settings.ts";

/** A frozen configuration. Equal digests mean equal behaviour. */
export interface Snapshot {
  /** SHA-256 over the contents of every file and the resolved references, hexadecimal. */
  readonly digest: string;
  /**
   * SHA-256 over the names and contents of the configuration's own files, hexadecimal: equal on
   * machines whose references have other values.
   */
  readonly contents: string;
  readonly files: readonly SnapshotFile[];
  readonly server: ServerSettings;
  readonly store: StoreSettings;
  readonly shared: SharedSettings;
  readonly ledger: LedgerSettings;
  readonly configSource: ConfigSourceSettings;
  readonly plugins: readonly PluginReference[];
  readonly providers: readonly ProviderSettings[];
  readonly guardrails: readonly GuardrailUseSettings[];
  /** Every loaded extension, with its options. */
  readonly extensions: readonly NamedUseSettings[];
  readonly models: readonly ModelSettings[];
  readonly keys: readonly DeclaredKey[];
  readonly teams: readonly DeclaredTeam[];
  readonly customers: CustomerSettings;
  readonly tenants: DeclaredTenants;
  readonly pipelines: readonly PipelineSettings[];
  readonly prices: PriceTable;
  /** What this configuration must be, beyond what any must be. */
  readonly policies: PoliciesSection;
  /**
   * What a person should know but need not act on: providers without a credential, models without a
   * target.
   */
  readonly notices: readonly string[];
}

export interface SnapshotFile {
  /** Absolute path. */
  readonly path: string;
  /** SHA-256 of the contents, hexadecimal. */
  readonly digest: string;
  /** Whether the file says itself where it ends. */
  readonly hasEndMark: boolean;
  /** Where it ends; findings about what it lacks point there. */
  readonly end: Position;
}

/** A plugin chosen by name, with its own options. */
export interface UseSettings {
  readonly use: string;
  /**
   * The plugin's options, defaults filled in, references resolved; secret references as `Secret`.
   */
  readonly options: Readonly<Record<string, unknown>>;
  readonly at: Position;
}

export interface NamedUseSettings extends UseSettings {
  readonly name: string;
}

/** Where keys, teams and the ledger are. */
export interface StoreSettings extends UseSettings {
  /** What is served while the store does not answer. */
  readonly whenDown: {
    readonly onStoreDown: "serve_known" | "refuse";
    readonly maxStalenessMs: number;
  };
}

/** The spend rows of the store. */
export interface LedgerSettings {
  /** The time after which rows are deleted. Absent: they are kept. */
  readonly keepMs?: number;
  readonly at: Position;
}

/** Where the configuration is. */
export interface ConfigSourceSettings {
  readonly source: "files" | "postgres";
  /** Folders whose files a pushed configuration may name. */
  readonly secrets: readonly string[];
  readonly at: Position;
}

/** Where shared state is kept. */
export interface SharedSettings extends UseSettings {
  /** How many gateways share it, by the operator's word. */
  readonly instances: number;
}

/** One entry of `plugins:`. */
export interface PluginReference {
  /** As written: `@sluice/standard@^1.0.0` or `./my-plugins/shout.ts`. */
  readonly specifier: string;
  /** The file that names the plugin, absolute: files and packages are looked up from it. */
  readonly from: string;
  readonly at: Position;
  /** Whether it is found by itself, and not listed. */
  readonly isFound?: boolean;
}

export interface ProviderSettings extends NamedUseSettings {
  /** References that did not resolve, as written. Not empty: the provider is unavailable. */
  readonly missing: readonly string[];
  readonly timeouts: ProviderTimeouts;
  readonly connections: number;
  readonly endpoints?: OpenEndpoints;
  readonly accountObjects?: OpenObjects;
  readonly showsRateLimits?: boolean;
  /** Headers of every call, by lower-case names. Absent: none. */
  readonly callHeaders?: Readonly<Record<string, string>>;
  /** Request headers of the client that go on, lower-case names. Absent: none. */
  readonly passHeaders?: readonly string[];
  /** Absent: nothing is fetched. */
  readonly fetchMedia?: MediaFetchSettings;
}

/** One entry of `guardrails:`. */
export interface GuardrailUseSettings extends NamedUseSettings {
  readonly settings: GuardrailSettings;
  /** Whether requests may name it only where their key, or what the key belongs to, names it. */
  readonly onlyNamed: boolean;
  /** The threads of a guardrail with `isolation: worker`. */
  readonly worker: { readonly threads: number; readonly heapBytes: number };
}

export interface TargetSettings {
  readonly provider: string;
  readonly model: string;
  /** Wins over the price table. */
  readonly price?: Price;
  readonly dropParams?: boolean;
  readonly forwardMetadata?: boolean;
  readonly forward?: readonly string[];
  readonly weight?: number;
  readonly priority?: number;
  readonly maxParallel?: number;
  readonly queue?: number;
  readonly queueTimeoutMs?: number;
  readonly rpm?: number;
  readonly tpm?: number;
  /** The target's own, else the model's. Absent: none. */
  readonly tags?: readonly string[];
  readonly at: Position;
}

export interface ModelSettings {
  /** As written; `*` at the end makes it a wildcard. */
  readonly id: string;
  readonly mode: ModelMode;
  readonly targets: readonly TargetSettings[];
  /** Wins over the strategy of the step. */
  readonly balance?: BalanceStrategy;
  readonly accessGroups: readonly string[];
  /** Keys without a model list do not reach it. Absent: they do. */
  readonly onlyNamed?: boolean;
  readonly fallbacks?: Readonly<Partial<Record<FallbackClass, readonly string[]>>>;
  readonly info?: ModelInfo;
  /** Absent: no target has tags. */
  readonly matchTags?: TagMatch;
  readonly at: Position;
}

/** A key declared in YAML by reference. */
export interface DeclaredKey {
  readonly alias: string;
  readonly key: Secret;
  readonly models: readonly string[];
  readonly userId: string | undefined;
  readonly teamId: string | undefined;
  readonly spendScope: SpendScope;
  readonly guardrails: readonly string[];
  /** Absent: the inference endpoints alone. */
  readonly passthrough?: boolean;
  readonly tags: readonly string[];
  /** Absent: none. */
  readonly allowedTags?: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Absent: none. */
  readonly limits?: RecordLimits;
  /** The organization of a key without a team. Absent: none. */
  readonly organizationId?: string;
  /** The customer that it acts for. Absent: none. */
  readonly customerId?: string;
  /** `false`: its requests may not name their customer. Absent: they may. */
  readonly mayNameCustomers?: boolean;
  /** Names of its own for models: alias to model id. Absent: none. */
  readonly modelAliases?: Readonly<Record<string, string>>;
  /** Absent: `calendar`. */
  readonly budgetAnchor?: BudgetAnchor;
  /** Absent: none. */
  readonly perModel?: LimitBlock["perModel"];
  /** Absent: none. */
  readonly budgetId?: string;
  readonly budgetShare?: BudgetShare;
  readonly at: Position;
}

/** A team declared in YAML. It wins over a team of the store with the same id. */
export interface DeclaredTeam extends Omit<TeamRecord, "createdAtMs" | "managedBy"> {
  readonly at: Position;
}

/** How customers are named and bounded. */
export interface CustomerSettings {
  /** Whether rows show a digest of their ids. */
  readonly isHashed: boolean;
  /** Lower-case names of headers that carry their ids. */
  readonly headers: readonly string[];
  /** Customers without a record that a key may bring. Absent: as many as requests name. */
  readonly newCustomers?: { readonly max: number; readonly perMs: number };
  /** The bound of what is remembered of them. */
  readonly maxBytes: number;
  /** The budget of customers that refer to no other one. */
  readonly defaultBudget?: string;
  /** Limits of customers that have none of their own of the name. */
  readonly defaults: RecordLimits;
}

export interface RouteSettings {
  readonly method: string;
  /**
   * `/v1/models/{id}`; a parameter written `{name...}` takes the rest of the path, slashes
   * included.
   */
  readonly path: string;
  /** The name of the face that its clients speak. Absent: the reference dialect. */
  readonly face?: string;
  readonly at: Position;
}

/**
 * Which requests a step applies to: those that match every member. Each list names what is allowed;
 * `*` at an end is the rest.
 */
export interface StepCondition {
  readonly model?: readonly string[];
  readonly key?: readonly string[];
  readonly user?: readonly string[];
  readonly team?: readonly string[];
  readonly tag?: readonly string[];
  /** By lower-case names. */
  readonly header?: Readonly<Record<string, readonly string[]>>;
  readonly stream?: boolean;
}

/** When a step applies, as it is written. */
export interface StepSchedule {
  readonly from?: string;
  readonly until?: string;
  readonly cron?: string;
  readonly tz?: string;
}

/** The common options of a step. Absent ones cost nothing. */
export interface StepUse {
  readonly when?: StepCondition;
  readonly active?: StepSchedule;
  /** It runs beside the request, and nothing of it has an effect. */
  readonly isShadow?: boolean;
  /** A failure of the step does not end the request. */
  readonly maySkip?: boolean;
  /** The time until the step calls `next` or answers. */
  readonly timeoutMs?: number;
}

export interface StepSettings extends UseSettings, StepUse {
  /** Position in the list, from 0. */
  readonly index: number;
}

/** One entry of `tests:`. */
export interface PipelineTest {
  readonly name: string;
  readonly method: string;
  /** With a query if there is one. */
  readonly target: string;
  readonly key: "none" | "master" | TestKeySection;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it is sent, `undefined` without one. */
  readonly body: string | undefined;
  /** `undefined`: nothing is said of upstream calls. */
  readonly outcomes: readonly TestOutcomeSection[] | undefined;
  readonly timeoutMs: number;
  readonly expect: TestExpectSection;
  /** Where each expectation stands, by its key. */
  readonly places: Readonly<Record<string, Position>>;
  readonly at: Position;
}

export interface PipelineSettings {
  readonly name: string;
  readonly file: string;
  /** Whether the file came with the gateway. */
  readonly isShipped?: boolean;
  readonly routes: readonly RouteSettings[];
  readonly operation: Operation;
  readonly deadlineMs: number;
  readonly heartbeatMs: number;
  readonly steps: readonly StepSettings[];
  /** The tests that run before the pipeline serves requests. */
  readonly tests: readonly PipelineTest[];
  /** All of them together may take so long. */
  readonly testBudgetMs: number;
  readonly at: Position;
}
