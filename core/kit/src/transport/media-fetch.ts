/**
 * Fetching what a client names by URL, where the operator switched it on. The URL is a stranger's: it is vetted, its addresses
 * are vetted and are those that are connected to, each redirect is vetted anew; no credential goes along, nothing is kept open,
 * and bytes, time and calls at once are bounded.
 */

import { buildConnector, Client } from "undici";
import { GatewayError, isGatewayError, type MediaFetchSettings } from "@sluice/spec";
import { type Resolve, systemResolve, vettingLookup, vetUrl, type VettedUrl } from "./media-address.ts";
import { type Holder, holderOf } from "../state/parts.ts";
import { Slots } from "./media-slots.ts";
import { type MediaKind, mediaTypeOf } from "./media-type.ts";
import { isPublicAddress } from "./public-address.ts";
import { Upstream, type UpstreamResponse } from "./upstream.ts";

/** A medium as it was fetched. */
export interface FetchedMedium {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Fetches media, a few at the same time. */
export interface MediaFetcher {
  readonly settings: MediaFetchSettings;
  /**
   * Fetches a URL that stands at `path` of the client's request. Rejects with `invalid_field`, which says why and names the
   * path and never the URL; with `overloaded`; with the signal's reason. `holder` is the key whose part of the places is used.
   */
  fetch(url: string, kind: MediaKind, path: string, signal: AbortSignal, holder?: Holder): Promise<FetchedMedium>;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const CONNECT_MS = 3_000;
const MAX_HEADER_BYTES = 16_384;

/** A fetcher. `resolve` gives the addresses of a name. */
export function createMediaFetcher(settings: MediaFetchSettings, resolve: Resolve = systemResolve): MediaFetcher {
  const slots = new Slots(settings.maxParallel, 2 * settings.timeoutMs);
  return {
    settings,
    async fetch(url, kind, path, signal, holder = holderOf(undefined)) {
      const deadline = AbortSignal.timeout(settings.timeoutMs);
      const both = AbortSignal.any([signal, deadline]);
      try {
        return await slots.run(holder, both, () => follow(url, kind, settings, resolve, both));
      } catch (error) {
        signal.throwIfAborted();
        if (isGatewayError(error) && error.code === "overloaded") throw error;
        const why = deadline.aborted ? `took longer than ${settings.timeoutMs} ms` : reasonOf(error);
        throw new GatewayError("invalid_field", `${path} names what cannot be fetched: it ${why}.`, { param: path });
      }
    },
  };
}

/** Why a URL is not fetched: words that complete "it …". */
class Unfetchable extends Error {}

/** A name without addresses and one with addresses of our own look alike from outside: they tell nothing of our network. */
function reasonOf(error: unknown): string {
  if (error instanceof Unfetchable) return error.message;
  if (isGatewayError(error) && error.code === "upstream_timeout") return "sent nothing in time";
  return "cannot be reached from here";
}

async function follow(
  text: string,
  kind: MediaKind,
  settings: MediaFetchSettings,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<FetchedMedium> {
  let vetted = checked(vetUrl(text, settings));
  for (let redirects = 0; ; redirects++) {
    const upstream = openOnce(vetted, resolve);
    try {
      const timeouts = { connectMs: CONNECT_MS, firstByteMs: settings.timeoutMs, idleMs: settings.timeoutMs };
      const { origin, pathname, search } = vetted.url;
      const headers = { accept: `${kind}/*, */*;q=0.1`, "user-agent": "sluice" };
      const call = { kind: "http", method: "GET", url: origin + pathname + search, headers, body: undefined } as const;
      const response = await upstream.send(call, { signal, timeouts });
      const { location } = response.headers;
      if (!REDIRECTS.has(response.status) || typeof location !== "string") return await read(response, kind, settings);
      if (redirects >= settings.redirects) throw new Unfetchable("redirects elsewhere");
      const from = vetted.url;
      vetted = checked(vetUrl(location, settings, from));
      if (vetted.url.protocol !== from.protocol) throw new Unfetchable("redirects to another scheme");
    } finally {
      await upstream.destroy();
    }
  }
}

function checked(vetted: VettedUrl | string): VettedUrl {
  if (typeof vetted === "string") throw new Unfetchable(vetted);
  return vetted;
}

/** One connection for one call. */
function openOnce({ url, isTrusted }: VettedUrl, resolve: Resolve): Upstream {
  const connect = buildConnector({ timeout: CONNECT_MS, allowH2: false, lookup: vettingLookup(resolve, isTrusted) });
  const client = new Client(url.origin, {
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(options, done) {
      connect(options, (...result) => {
        const [error, socket] = result;
        // Whatever was looked up: this is who answered.
        if (error === null && !isTrusted && !isPublicAddress(socket.remoteAddress ?? "")) {
          socket.destroy();
          done(new Error("The address may not be asked."), null);
          return;
        }
        done(...result);
      });
    },
  });
  return new Upstream({ connections: 1, connectMs: CONNECT_MS }, client);
}

async function read(
  { status, headers, body }: UpstreamResponse,
  kind: MediaKind,
  { maxBytes }: MediaFetchSettings,
): Promise<FetchedMedium> {
  if (status !== 200) throw new Unfetchable(`answered with status ${status}`);
  const coding = headers["content-encoding"];
  if (coding !== undefined && coding !== "identity") throw new Unfetchable("is compressed");
  const tooLarge = `has more than ${maxBytes} bytes`;
  if (Number(headers["content-length"]) > maxBytes) throw new Unfetchable(tooLarge);
  const bytes = await body.collect(maxBytes).catch((error: unknown) => {
    throw isGatewayError(error) && error.code === "upstream_invalid_response" ? new Unfetchable(tooLarge) : error;
  });
  const type = headers["content-type"];
  const told = typeof type === "string" ? (type.split(";")[0] ?? "").trim().toLowerCase() : "";
  const mimeType = mediaTypeOf(bytes, kind, told);
  if (mimeType === undefined) throw new Unfetchable(`is no ${kind} of a type that is known here`);
  return { mimeType, bytes };
}
