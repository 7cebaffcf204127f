/** Connections to the providers of a generation. */

import {
  createMediaFetcher,
  createMediaInliner,
  type MediaInliner,
  type UpstreamDoor,
} from "@sluice/runtime/transport";
import { Upstream, upstreamKey } from "@sluice/kit/internals";
import type { Host, HistogramDescription, ProviderInstance } from "@sluice/contract";

/** A provider and the connections to it. */
export interface ProviderUpstream extends UpstreamDoor {
  /** Absent when the provider needs no media fetched. */
  readonly media?: MediaInliner;
}

/**
 * Waits for a connection. The metric's prefix is that of the step: `sluice_provider_` or
 * `sluice_passthrough_`.
 */
export const CONNECTION_WAITS: HistogramDescription = {
  name: "connection_wait_seconds",
  help: "Time that requests waited for a free connection for their key, by provider. The upstream's time excludes it.",
  labels: ["provider"],
  buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60],
};

/** Connections by provider. Generations with the same settings of a provider share them. */
export function openUpstreams(host: Host): ReadonlyMap<string, ProviderUpstream> {
  const names = host.providers.names();
  const waits = host.metrics.histogram(CONNECTION_WAITS);
  return new Map(
    names.flatMap((name) => {
      const instance = host.providers.find(name);
      if (instance === undefined) return [];
      const { connections, timeouts } = instance;
      const options = { connections, connectMs: timeouts.connectMs };
      const upstream = host.shared(upstreamKey(name, options), () => new Upstream(options));
      const onWait = (ms: number): void => waits.with(name).observe(ms / 1_000);
      return [[name, { instance, upstream, onWait, ...mediaOf(instance, host) }] as const];
    }),
  );
}

/** The media fetcher is shared as well, so that its bounds hold for the process. */
function mediaOf(
  { name, fetchMedia }: ProviderInstance,
  host: Host,
): Pick<ProviderUpstream, "media"> {
  if (fetchMedia === undefined) return {};
  return {
    media: host.shared(`media:${name}:${JSON.stringify(fetchMedia)}`, () =>
      createMediaInliner(createMediaFetcher(fetchMedia)),
    ),
  };
}
