/**
 * Fetches media that clients name by URL, where the operator enabled it. The URL is untrusted: its
 * text and its addresses are checked, the connection uses the checked addresses, and each redirect
 * is checked again. No credential is sent, no connection stays open, and bytes, time and concurrent
 * calls are bounded.
 */

import { GatewayError, isGatewayError, type MediaFetchSettings } from "@sluice/contract";
import { type Resolve, systemResolve, vettingLookup, vetUrl, type VettedUrl } from "./address.ts";
import { type Holder, holderOf, undici } from "@sluice/kit/internals";
import { Slots } from "./slots.ts";
import { type MediaKind, mediaTypeOf } from "./type.ts";
import { isPublicAddress } from "./public-address.ts";
import { Upstream, type UpstreamResponse } from "@sluice/kit/internals";

/** A fetched medium. */
export interface FetchedMedium {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Fetches media, with bounded concurrency. */
export interface MediaFetcher {
  readonly settings: MediaFetchSettings;
  /**
   * Fetches a URL at `path` of the client's request. Rejects with `invalid_field`, whose message
   * has the reason and the path but not the URL; with `overloaded`; with the signal's reason.
   * `holder` is the key whose share of the places is used.
   */
  fetch(
    url: string,
    kind: MediaKind,
    path: string,
    signal: AbortSignal,
    holder?: Holder,
  ): Promise<FetchedMedium>;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const CONNECT_MS = 3_000;
const MAX_HEADER_BYTES = 16_384;

/** A fetcher. `resolve` returns the addresses of a name. */
export function createMediaFetcher(
  settings: MediaFetchSettings,
  resolve: Resolve = systemResolve,
): MediaFetcher {
  const slots = new Slots(settings.maxParallel, 2 * settings.timeoutMs);
  return {
    settings,
    async fetch(url, kind, path, signal, holder = holderOf(undefined)) {
      const deadline = AbortSignal.timeout(settings.timeoutMs);
      const both = AbortSignal.any([signal, deadline]);
      try {
        return await slots.run(holder, both, () =>
          follow(url, kind, settings, resolve, both, holder),
        );
      } catch (error) {
        signal.throwIfAborted();
        if (isGatewayError(error) && error.code === "overloaded") throw error;
        const why = deadline.aborted
          ? `took longer than ${settings.timeoutMs} ms`
          : unfetchedReason(error);
        throw new GatewayError(
          "invalid_field",
          `${path} names what cannot be fetched: it ${why}.`,
          { param: path },
        );
      }
    },
  };
}

/** The reason why a URL is not fetched: words that complete "it …". */
class Unfetchable extends Error {}

/**
 * A name without addresses and a name with private addresses get the same message, which reveals
 * nothing about the network.
 */
function unfetchedReason(error: unknown): string {
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
  holder: Holder,
): Promise<FetchedMedium> {
  let vetted = checked(vetUrl(text, settings));
  for (let redirects = 0; ; redirects++) {
    const upstream = openOnce(vetted, resolve);
    try {
      const timeouts = {
        connectMs: CONNECT_MS,
        firstByteMs: settings.timeoutMs,
        idleMs: settings.timeoutMs,
      };
      const { origin, pathname, search } = vetted.url;
      const headers = { accept: `${kind}/*, */*;q=0.1`, "user-agent": "sluice" };
      const call = {
        kind: "http",
        method: "GET",
        url: origin + pathname + search,
        headers,
        body: undefined,
      } as const;
      const response = await upstream.send(call, { signal, timeouts, holder });
      const { location } = response.headers;
      if (!REDIRECTS.has(response.status) || typeof location !== "string")
        return await read(response, kind, settings);
      if (redirects >= settings.redirects) throw new Unfetchable("redirects elsewhere");
      const from = vetted.url;
      vetted = checked(vetUrl(location, settings, from));
      if (vetted.url.protocol !== from.protocol)
        throw new Unfetchable("redirects to another scheme");
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
  const { buildConnector, Client } = undici();
  const connect = buildConnector({
    timeout: CONNECT_MS,
    allowH2: false,
    lookup: vettingLookup(resolve, isTrusted),
  });
  const client = new Client(url.origin, {
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(options, done) {
      connect(options, (...result) => {
        const [error, socket] = result;
        // The connected address decides, whatever the look-up returned.
        if (error === null && !isTrusted && !isPublicAddress(socket.remoteAddress ?? "")) {
          socket.destroy();
          done(new Error("The address is not allowed."), null);
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
  if (headers["content-encoding"] !== undefined) throw new Unfetchable("is compressed");
  const tooLarge = `has more than ${maxBytes} bytes`;
  if (Number(headers["content-length"]) > maxBytes) throw new Unfetchable(tooLarge);
  const bytes = await body.collect(maxBytes).catch((error: unknown) => {
    throw isGatewayError(error) && error.code === "upstream_invalid_response"
      ? new Unfetchable(tooLarge)
      : error;
  });
  const type = headers["content-type"];
  const declared = typeof type === "string" ? (type.split(";")[0] ?? "").trim().toLowerCase() : "";
  const mimeType = mediaTypeOf(bytes, kind, declared);
  if (mimeType === undefined)
    throw new Unfetchable(`is not ${kind === "image" ? "an" : "a"} ${kind} of a supported type`);
  return { mimeType, bytes };
}
