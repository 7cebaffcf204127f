/**
 * Fills in placeholders for missing credentials, so that a provider's capabilities can be read. Not
 * for calls.
 */

import { type JsonSchema, Secret } from "@sluice/contract";
import type { ProviderSettings } from "../config/snapshot.ts";
import type { Definitions } from "./definitions.ts";

const UNSET = "unset";

/**
 * The provider with something in the place of every option that does not resolve, or as it is when
 * that cannot be.
 */
export function withPlaceholders(
  provider: ProviderSettings,
  definitions: Pick<Definitions, "providers">,
): ProviderSettings {
  const { missing, options, use } = provider;
  const definition = definitions.providers.get(use);
  if (missing.length === 0 || definition === undefined) return provider;
  const filled = Object.entries(options).map(([key, value]) => {
    const isMissing =
      typeof value === "string" && missing.some((written) => value.includes(written));
    if (!isMissing) return [key, value] as const;
    return [key, isSecret(definition.config, key) ? new Secret(key, UNSET) : UNSET] as const;
  });
  const whole: ProviderSettings = { ...provider, options: Object.fromEntries(filled), missing: [] };
  return isSound(whole, definition) ? whole : provider;
}

function isSecret({ properties }: JsonSchema, key: string): boolean {
  const property = (properties as Readonly<Record<string, unknown>> | undefined)?.[key];
  return typeof property === "object" && property !== null && "x-secret" in property;
}

/** A value that stands in may not be what the plugin needs: then the provider stays unavailable. */
function isSound(
  { options }: ProviderSettings,
  definition: { check?(config: never): readonly unknown[] },
): boolean {
  try {
    return (definition.check?.(options as never) ?? []).length === 0;
  } catch {
    return false;
  }
}
