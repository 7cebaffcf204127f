/** The provider instances of a generation. */

import { hash } from "node:crypto";
import type { ProviderCatalog, ProviderDefinition, ProviderInstance } from "@sluice/contract";
import type { ProviderSettings, Snapshot } from "../config/snapshot.ts";
import { blaming } from "../pipeline/blame.ts";
import type { Definitions } from "../registry/definitions.ts";
import { made } from "../registry/made.ts";
import { calleeOf } from "./callee.ts";
import type { HostFactory } from "./parts.ts";

/** Makes every provider whose references resolved. */
export function createProviders(
  snapshot: Snapshot,
  definitions: Definitions,
  hostFor: HostFactory,
): ProviderCatalog {
  const instances = new Map<string, ProviderInstance>();
  for (const settings of snapshot.providers) {
    const definition = definitions.providers.get(settings.use);
    if (definition === undefined || settings.missing.length > 0) continue;
    const plugin = definitions.ownName("provider", settings.use);
    instances.set(settings.name, createProvider(settings, definition, plugin, hostFor));
  }
  const names = Object.freeze([...instances.keys()]);
  return { find: (name) => instances.get(name), names: () => names };
}

function createProvider(
  {
    name,
    use,
    options,
    at,
    timeouts,
    connections,
    endpoints = "inference",
    accountObjects = "none",
    showsRateLimits = false,
    callHeaders,
    passHeaders,
    fetchMedia,
  }: ProviderSettings,
  definition: ProviderDefinition<never>,
  plugin: string,
  hostFor: HostFactory,
): ProviderInstance {
  const translation = blaming(at, () =>
    made(definition.create(options as never, hostFor(`${use}/${name}`)), "provider", use),
  );
  const called = callHeaders === undefined ? {} : { callHeaders };
  // A secret writes itself by its name alone.
  const identified = callHeaders === undefined ? [plugin, options] : [plugin, options, callHeaders];
  return Object.freeze({
    name,
    use: plugin,
    priceAs: translation.priceAs ?? plugin,
    translation,
    identity: hash("sha256", JSON.stringify(identified), "base64url"),
    callee: calleeOf(plugin, { options, timeouts, connections, ...called }),
    timeouts,
    connections,
    endpoints,
    accountObjects,
    showsRateLimits,
    ...called,
    ...(passHeaders !== undefined && { passHeaders }),
    ...(fetchMedia !== undefined && { fetchMedia }),
  });
}
