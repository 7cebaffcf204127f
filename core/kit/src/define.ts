/** The define functions: a package's description of itself. */

import type {
  ExtensionDefinition,
  FaceDefinition,
  GuardrailDefinition,
  ProviderDefinition,
  StateDefinition,
  StepDefinition,
  StoreDefinition,
} from "@sluice/contract";
import { API_VERSION } from "@sluice/contract";

const NAME = /^[a-z][a-z0-9-]*$/;

type Kinded<D> = Omit<D, "kind" | "apiVersion">;

/** Declares a step. Throws a TypeError for a name that YAML cannot hold. */
export function defineStep<C>(definition: Kinded<StepDefinition<C>>): StepDefinition<C> {
  return declare("step", definition);
}

/** Declares a provider. */
export function defineProvider<C>(
  definition: Kinded<ProviderDefinition<C>>,
): ProviderDefinition<C> {
  return declare("provider", definition);
}

/** Declares a guardrail. */
export function defineGuardrail<C>(
  definition: Kinded<GuardrailDefinition<C>>,
): GuardrailDefinition<C> {
  return declare("guardrail", definition);
}

/** Declares a face: the wire form of a kind of client. */
export function defineFace<C>(definition: Kinded<FaceDefinition<C>>): FaceDefinition<C> {
  return declare("face", definition);
}

/** Declares an extension: fields, headers and paths of another product at the edge. */
export function defineExtension<C>(
  definition: Kinded<ExtensionDefinition<C>>,
): ExtensionDefinition<C> {
  return declare("extension", definition);
}

/** Declares a store. */
export function defineStore<C>(definition: Kinded<StoreDefinition<C>>): StoreDefinition<C> {
  return declare("store", definition);
}

/** Declares a driver of shared state. */
export function defineState<C>(definition: Kinded<StateDefinition<C>>): StateDefinition<C> {
  return declare("state", definition);
}

function declare<K extends string, D extends { readonly name: string }>(kind: K, definition: D) {
  if (!NAME.test(definition.name)) {
    throw new TypeError(
      `The ${kind} name ${JSON.stringify(definition.name)} is not lower case with hyphens.`,
    );
  }
  return Object.freeze({ kind, apiVersion: API_VERSION as typeof API_VERSION, ...definition });
}
