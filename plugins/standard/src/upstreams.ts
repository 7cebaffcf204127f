/** Connections to the providers of a generation. */

import { Upstream, upstreamKey } from "@sluice/kit/transport";
import type { Host, ProviderInstance } from "@sluice/spec";

/** A provider and the connections to it. */
export interface ProviderUpstream {
  readonly instance: ProviderInstance;
  readonly upstream: Upstream;
}

/** Connections by provider. They are shared by every generation that configures a provider alike. */
export function openUpstreams(host: Host): ReadonlyMap<string, ProviderUpstream> {
  const names = host.providers.names();
  return new Map(
    names.flatMap((name) => {
      const instance = host.providers.find(name);
      if (instance === undefined) return [];
      const { connections, timeouts } = instance;
      const options = { connections, connectMs: timeouts.connectMs };
      const upstream = host.shared(upstreamKey(name, options), () => new Upstream(options));
      return [[name, { instance, upstream }] as const];
    }),
  );
}
