/** Connections to the providers of a generation. */

import { createMediaFetcher, createMediaInliner, type MediaInliner, Upstream, upstreamKey } from "@sluice/kit/transport";
import type { Host, ProviderInstance } from "@sluice/spec";

/** A provider and the connections to it. */
export interface ProviderUpstream {
  readonly instance: ProviderInstance;
  readonly upstream: Upstream;
  /** Absent: nothing is fetched for it. */
  readonly media?: MediaInliner;
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
      return [[name, { instance, upstream, ...mediaOf(instance, host) }] as const];
    }),
  );
}

/** What fetches is shared as well, so that its places are those of the process. */
function mediaOf({ name, fetchMedia }: ProviderInstance, host: Host): Pick<ProviderUpstream, "media"> {
  if (fetchMedia === undefined) return {};
  return {
    media: host.shared(`media:${name}:${JSON.stringify(fetchMedia)}`, () => createMediaInliner(createMediaFetcher(fetchMedia))),
  };
}
