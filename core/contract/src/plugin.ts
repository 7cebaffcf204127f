/**
 * What every plugin is: a frozen definition, data first, with one function that makes the living
 * thing.
 */

import type { Extension } from "./extension.ts";
import type { Face } from "./face.ts";
import type { Guardrail, TextPart } from "./guardrail.ts";
import type { Host, StateHost, StoreHost } from "./host.ts";
import type { JsonObject, JsonSchema } from "./json.ts";
import type { Operation } from "./model.ts";
import type { Provider } from "./provider.ts";
import type { StateDriver } from "./shared-state.ts";
import type { Step } from "./step.ts";
import type { Store } from "./store.ts";

/** The version of the contract between plugins and the engine. It is part of every definition. */
export const API_VERSION = 1;

export type PluginKind =
  | "step"
  | "provider"
  | "guardrail"
  | "face"
  | "extension"
  | "store"
  | "state";

/** How far a plugin may be relied on. Shown in the documentation and logged once at the start. */
export type Stability = "experimental" | "beta" | "stable";

/**
 * The common part of every definition. `create` is cheap and does no I/O; an instance may have
 * `start`, which may do I/O, and `stop`. `Lifecycle` says when each is called.
 */
export interface Definition<Kind extends PluginKind, Config, Instance, H = Host> {
  readonly kind: Kind;
  /** The name in YAML: lower case, hyphens. */
  readonly name: string;
  readonly apiVersion: typeof API_VERSION;
  readonly stability: Stability;
  /** One sentence for the tables of the documentation. */
  readonly summary: string;
  /** JSON Schema of the options, an object schema; every key has a description. */
  readonly config: JsonSchema;
  /** Faults of the options that a schema cannot express. Pure. */
  check?(config: Config): readonly ConfigFault[];
  create(config: Config, host: H): Instance;
}

/** What `check` of a definition reports. */
export interface ConfigFault {
  /** Path below the plugin's own options: `["targets", 0, "model"]`. */
  readonly path: readonly (string | number)[];
  /** What is wrong. */
  readonly message: string;
  /** What to do. */
  readonly fix: string;
}

/** A rule about the order of steps, with the reason a reader of the finding needs. */
export interface OrderRule {
  /** A word that some step `provides`. */
  readonly capability: string;
  /** Why: the second half of "… must come before …, because". */
  readonly reason: string;
}

/** The guardrails of one use of a step. */
export interface GuardrailUse {
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly stream: "hold" | "window" | "observe";
  /** Whether a reply that a guardrail refuses may be asked for once more. */
  readonly asksAgain?: boolean;
}

/** An entry of gateway.yaml that a use of a step names. */
export interface NamedThing {
  /**
   * `model`: an entry of `models`, by its id as it stands there. `asked_model`: what a client might
   * ask for, wildcards included.
   */
  readonly kind: "provider" | "model" | "asked_model";
  readonly name: string;
}

/** The place of a step in a pipeline. A wrong order is a finding, and the pipeline never runs. */
export interface StepOrder {
  /** What inner steps may rely on once this one ran. */
  readonly provides?: readonly string[];
  /** A step outside this one must provide these. */
  readonly requires?: readonly OrderRule[];
  /** No step outside this one may provide these. */
  readonly before?: readonly OrderRule[];
}

/** How a step runs. Every trait is absent by default. */
export interface StepTraits<C = unknown> {
  /** Ends the pipeline: it never calls `next`, and it must be the last step. */
  readonly terminal?: boolean;
  /**
   * May call `next` again, one call at a time, each a fresh attempt: always, or with such options.
   */
  readonly reentrant?: boolean | ((config: C) => boolean);
  /**
   * May call `next` several times at once, each time with a branch of its own: see `branchOf` of
   * the kit.
   */
  readonly concurrent?: boolean;
  /** Works on headers alone: the body is not read before it. */
  readonly early?: boolean;
  /**
   * The step itself makes its keys of shared state distinct; a key means the same in every step
   * with this trait. Without it they are the step's own, whatever they are called.
   */
  readonly sharesState?: boolean;
  /**
   * Runs on routes alone whose face keeps replies (`Face.keeping`). Other routes of its pipeline
   * are served as if it did not stand there.
   */
  readonly keepsReplies?: boolean;
}

/** What the options of one use of a step refer to. */
export interface StepReferences {
  /**
   * The guardrails that the use names, and how it treats streams. Present on every use of a step
   * that runs guardrails.
   */
  readonly guardrails?: GuardrailUse;
  /**
   * Providers and models that the use names. One that is not in gateway.yaml is a finding at the
   * step's line.
   */
  readonly names?: readonly NamedThing[];
  /** The largest entry that the use puts into the cache of the shared state, in bytes. */
  readonly largestEntry?: number;
}

/** What a step package exports. */
export interface StepDefinition<C = unknown> extends Definition<"step", C, Step> {
  /** The operations the step can serve. Absent: all. */
  readonly operations?: readonly Operation[];
  readonly order?: StepOrder;
  readonly traits?: StepTraits<C>;
  /** Reads the references out of the options of one use. Pure. */
  readonly inspect?: (config: C) => StepReferences;
}

/** What a provider package exports. */
export interface ProviderDefinition<C = unknown> extends Definition<"provider", C, Provider> {
  /**
   * The native path that lists models for nothing, without a leading slash: a check of the
   * credential asks it. Absent: no such path is known.
   */
  readonly modelList?: string;
}

/** A request that a guardrail must refuse. */
export interface RequestSample {
  /** Default: a name that no model has. */
  readonly model?: string;
  /** Members of the body besides `model`. */
  readonly body?: JsonObject;
}

/** What a guardrail package exports. */
export interface GuardrailDefinition<C = unknown> extends Definition<"guardrail", C, Guardrail> {
  /**
   * What the guardrail must not allow, for the self-test at every load: a text, or a request as a
   * whole for one that only admits.
   */
  readonly sample: (config: C) => string | RequestSample;
  /**
   * It asks a service that may be away. Then its self-test says so in the log, and refuses nothing.
   */
  readonly isRemote?: boolean;
  /** The texts it judges when the configuration does not say: `scope`. Absent: all. */
  readonly scope?: readonly TextPart[];
}

/** What a face package exports. */
export interface FaceDefinition<C = unknown> extends Definition<"face", C, Face> {
  /** Its usual routes: `POST /v1/messages`. They serve the hint of a 404; a pipeline decides. */
  readonly paths: readonly string[];
}

/**
 * What an extension package exports. It is never found by itself: `plugins` of gateway.yaml names
 * its package.
 */
export interface ExtensionDefinition<C = unknown> extends Definition<"extension", C, Extension> {
  /** Headers that carry a key for its clients, lower-case names. Absent: none. */
  readonly keyHeaders?: readonly string[];
}

/** What a store package exports. */
export interface StoreDefinition<C = unknown> extends Definition<"store", C, Store, StoreHost> {}

/** What a package of shared state exports. */
export interface StateDefinition<C = unknown> extends Definition<
  "state",
  C,
  StateDriver,
  StateHost
> {
  /** Whether the state is beyond a socket: then the engine decides by itself while it is away. */
  readonly isRemote: boolean;
  /** The largest entry that its cache keeps with these options, in bytes. Absent: any. */
  readonly largestEntry?: (config: C) => number;
}

/** A package's default export: one definition or a bundle of them. */
export type AnyDefinition =
  | StepDefinition<never>
  | ProviderDefinition<never>
  | GuardrailDefinition<never>
  | FaceDefinition<never>
  | ExtensionDefinition<never>
  | StoreDefinition<never>
  | StateDefinition<never>;
