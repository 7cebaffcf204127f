/**
 * The registry: definitions by kind and name, read from the packages that the configuration names.
 */

import type {
  AnyDefinition,
  ExtensionDefinition,
  FaceDefinition,
  GuardrailDefinition,
  ProviderDefinition,
  StateDefinition,
  StepDefinition,
  StoreDefinition,
} from "@sluice/contract";

/** A loaded plugin and where it came from. */
export interface LoadedPlugin {
  /** As written in `plugins:`. */
  readonly specifier: string;
  /** The package's version, `undefined` for a file of the user's own. */
  readonly version: string | undefined;
  readonly definitions: readonly AnyDefinition[];
  /**
   * The module that says so, as a URL that a thread can import. Absent for what was made in memory.
   */
  readonly url?: string;
  /** Of a package under an alias: the plugins' own names, by `kind/name` as YAML says it. */
  readonly ownNames?: ReadonlyMap<string, string>;
}

/** Definitions of a process. */
export interface Definitions {
  readonly plugins: readonly LoadedPlugin[];
  /** By `kind/name`. */
  readonly all: ReadonlyMap<string, AnyDefinition>;
  readonly steps: ReadonlyMap<string, StepDefinition<never>>;
  readonly providers: ReadonlyMap<string, ProviderDefinition<never>>;
  readonly guardrails: ReadonlyMap<string, GuardrailDefinition<never>>;
  readonly faces: ReadonlyMap<string, FaceDefinition<never>>;
  readonly extensions: ReadonlyMap<string, ExtensionDefinition<never>>;
  readonly stores: ReadonlyMap<string, StoreDefinition<never>>;
  readonly states: ReadonlyMap<string, StateDefinition<never>>;
  /**
   * The plugin's own name of what YAML calls `name`: they differ for a package under an alias.
   * Prices go by it.
   */
  ownName(kind: AnyDefinition["kind"], name: string): string;
  /** The module that a definition comes from. */
  urlOf(kind: AnyDefinition["kind"], name: string): string | undefined;
}

/** Sorts loaded plugins into maps by kind. */
export function indexDefinitions(plugins: readonly LoadedPlugin[]): Definitions {
  const all = new Map<string, AnyDefinition>();
  const steps = new Map<string, StepDefinition<never>>();
  const providers = new Map<string, ProviderDefinition<never>>();
  const guardrails = new Map<string, GuardrailDefinition<never>>();
  const faces = new Map<string, FaceDefinition<never>>();
  const extensions = new Map<string, ExtensionDefinition<never>>();
  const stores = new Map<string, StoreDefinition<never>>();
  const states = new Map<string, StateDefinition<never>>();
  for (const definition of plugins.flatMap((plugin) => plugin.definitions)) {
    all.set(`${definition.kind}/${definition.name}`, definition);
    switch (definition.kind) {
      case "step":
        steps.set(definition.name, definition);
        break;
      case "provider":
        providers.set(definition.name, definition);
        break;
      case "guardrail":
        guardrails.set(definition.name, definition);
        break;
      case "face":
        faces.set(definition.name, definition);
        break;
      case "extension":
        extensions.set(definition.name, definition);
        break;
      case "store":
        stores.set(definition.name, definition);
        break;
      case "state":
        states.set(definition.name, definition);
        break;
      default:
        definition satisfies never;
    }
  }
  const ownNames = new Map(plugins.flatMap((plugin) => [...(plugin.ownNames ?? [])]));
  const ownName = (kind: AnyDefinition["kind"], name: string): string =>
    ownNames.get(`${kind}/${name}`) ?? name;
  const urlOf = (kind: AnyDefinition["kind"], name: string): string | undefined =>
    plugins.find((plugin) =>
      plugin.definitions.some((one) => one.kind === kind && one.name === name),
    )?.url;
  return {
    plugins,
    all,
    steps,
    providers,
    guardrails,
    faces,
    extensions,
    stores,
    states,
    ownName,
    urlOf,
  };
}
