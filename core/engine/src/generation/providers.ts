/** The provider instances of a generation. */

import { hash } from "node:crypto";
import type { ProviderCatalog, ProviderInstance } from "@sluice/contract";
import type { Snapshot } from "../config/snapshot.ts";
import { blaming } from "../pipeline/blame.ts";
import type { Definitions } from "../registry/definitions.ts";
import { calleeOf } from "./callee.ts";
import type { HostFactory } from "./parts.ts";

/** Makes every provider whose references resolved. */
export function createProviders(
  snapshot: Snapshot,
  definitions: Definitions,
  hostFor: HostFactory,
): ProviderCatalog {
  const instances = new Map<string, ProviderInstance>();
  for (const {
    name,
    use,
    options,
    at,
    missing,
    timeouts,
    connections,
    endpoints = "inference",
    showsRateLimits = false,
    callHeaders,
    passHeaders,
    fetchMedia,
  } of snapshot.providers) {
    const definition = definitions.providers.get(use);
    if (definition === undefined || missing.length > 0) continue;
    const translation = blaming(at, () =>
      definition.create(options as never, hostFor(`${use}/${name}`)),
    );
    const plugin = definitions.ownName("provider", use);
    const priceAs = translation.priceAs ?? plugin;
    // A secret writes itself by its name alone.
    const identity = hash(
      "sha256",
      JSON.stringify(
        callHeaders === undefined ? [plugin, options] : [plugin, options, callHeaders],
      ),
      "base64url",
    );
    const callee = calleeOf(plugin, {
      options,
      timeouts,
      connections,
      ...(callHeaders !== undefined && { callHeaders }),
    });
    const fetching = fetchMedia === undefined ? {} : { fetchMedia };
    const instance = {
      name,
      use: plugin,
      priceAs,
      translation,
      identity,
      callee,
      timeouts,
      connections,
      endpoints,
      showsRateLimits,
      ...(callHeaders !== undefined && { callHeaders }),
      ...(passHeaders !== undefined && { passHeaders }),
      ...fetching,
    };
    instances.set(name, Object.freeze(instance));
  }
  const names = Object.freeze([...instances.keys()]);
  return { find: (name) => instances.get(name), names: () => names };
}
