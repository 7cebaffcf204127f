/** Providers whose credential is not set, as if it were: a test must not depend on where it runs. */

import { type JsonSchema, Secret } from "@sluice/spec";
import type { ProviderSettings, Snapshot } from "../config/snapshot.ts";
import type { Definitions } from "../registry/definitions.ts";
import { TEST_PROVIDER } from "./providers.ts";

const UNSET = "unset";

/** The snapshot as tests see it: every provider has what it needs, and the provider of the tests is among them. */
export function rehearsedSnapshot(snapshot: Snapshot, definitions: Definitions): Snapshot {
  const providers = snapshot.providers.map((provider) => filled(provider, definitions));
  const [first] = snapshot.files;
  const at = { file: first?.end.file ?? "", line: 1, column: 1 };
  const timeouts = { connectMs: 0, firstByteMs: 0, idleMs: 0 };
  const own = { name: TEST_PROVIDER, use: TEST_PROVIDER, options: {}, at, missing: [], timeouts, connections: 1 };
  return { ...snapshot, providers: [...providers, own] };
}

function filled(provider: ProviderSettings, definitions: Definitions): ProviderSettings {
  const { missing, options, use } = provider;
  const definition = definitions.providers.get(use);
  if (missing.length === 0 || definition === undefined) return provider;
  const filledOptions = Object.entries(options).map(([key, value]) => {
    const isMissing = typeof value === "string" && missing.some((written) => value.includes(written));
    if (!isMissing) return [key, value] as const;
    return [key, isSecret(definition.config, key) ? new Secret(key, UNSET) : UNSET] as const;
  });
  const whole: ProviderSettings = { ...provider, options: Object.fromEntries(filledOptions), missing: [] };
  return canBeMade(whole, definition) ? whole : provider;
}

function isSecret({ properties }: { readonly properties?: unknown } & JsonSchema, key: string): boolean {
  const property = (properties as Readonly<Record<string, unknown>> | undefined)?.[key];
  return typeof property === "object" && property !== null && "x-secret" in property;
}

/** A value that stands in may not be what the plugin needs: then the provider stays unavailable. */
function canBeMade({ options }: ProviderSettings, definition: { check?(config: never): readonly unknown[] }): boolean {
  try {
    return (definition.check?.(options as never) ?? []).length === 0;
  } catch {
    return false;
  }
}
