/**
 * Decides which URLs of clients may be fetched: by their text, by their host's name, and by the
 * addresses of the name.
 */

import { lookup as systemLookup, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { MediaFetchSettings } from "@sluice/contract";
import { isPublicAddress } from "./public-address.ts";

/** Returns the addresses of a name, or an error when it has none. */
export type Resolve = (
  host: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

/** A URL that passed the check of its text. */
export interface VettedUrl {
  readonly url: URL;
  /** The operator configured its origin: any address is allowed. */
  readonly isTrusted: boolean;
}

/**
 * Names of this machine, its network or its cloud (RFC 6761, RFC 6762, RFC 8375, the providers'
 * metadata services).
 */
const INNER_NAME =
  /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa|localdomain)$|^metadata(?:\.|$)/;

const MAX_SCHEME_CHARACTERS = 1_000;

/** Checks a URL of a client. Returns its fault as words that complete "it …". */
export function vetUrl(text: string, settings: MediaFetchSettings, base?: URL): VettedUrl | string {
  if (isOdd(text)) return "holds a character that no URL may hold";
  if (!URL.canParse(text, base?.href)) return "is not a URL";
  const url = new URL(text, base);
  if (url.username !== "" || url.password !== "") return "holds a credential";
  if (settings.allowOrigins.includes(url.origin)) return { url, isTrusted: true };
  if (url.protocol !== "https:") return "is not https:";
  if (url.port !== "") return "names a port";
  const host = hostOf(url);
  const isNumber = isIP(host) !== 0;
  if (isNumber ? !isPublicAddress(host) : INNER_NAME.test(host) || !host.includes("."))
    return "cannot be reached from here";
  return { url, isTrusted: false };
}

/**
 * Control characters, space and backslash: parsers disagree about them, so the fetched URL could
 * differ from the checked one.
 */
function isOdd(text: string): boolean {
  return Array.from(text).some(
    (character) => character <= " " || character === "\\" || character === "\u007f",
  );
}

/**
 * Whether the text of a medium is fetched or refused, and not passed on. An `https:` URL at a host
 * outside the settings is passed on, as are `data:` URLs and texts without a scheme. The fetcher
 * refuses every other scheme. Hosts are `*`, `*.example.com` for its subdomains, or
 * `cdn.example.com`.
 */
export function isFetcherConcern(
  text: string,
  { hosts, allowOrigins }: MediaFetchSettings,
): boolean {
  const scheme = schemeOf(text);
  if (scheme === undefined || scheme === "data:") return false;
  if (scheme !== "https:" || !URL.canParse(text)) return true;
  const url = new URL(text);
  if (allowOrigins.includes(url.origin)) return true;
  const host = hostOf(url);
  return hosts.some(
    (each) =>
      each === "*" || (each.startsWith("*.") ? host.endsWith(each.slice(1)) : host === each),
  );
}

/**
 * The scheme of a text, lower case, as a URL parser finds it: leading blanks and controls, tabs and
 * line breaks do not count.
 */
function schemeOf(text: string): string | undefined {
  // The WHATWG URL parser strips controls and blanks at the start, and tabs and line breaks
  // anywhere, before it reads a scheme.
  const colon = text.indexOf(":");
  // Longer than every supported scheme.
  if (colon > MAX_SCHEME_CHARACTERS) return "";
  const start = Array.from(text.slice(0, colon + 1)).filter((character) => character > " ");
  return /^[a-z][a-z0-9+.-]*:$/i.exec(start.join(""))?.[0].toLowerCase();
}

/** A host as numbers or as a name, without brackets and without a final dot. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

/** The addresses of a name by the system's resolver. */
export const systemResolve: Resolve = (host, done) => systemLookup(host, { all: true }, done);

/**
 * The look-up of a connection. The connection uses its result, so the checked address is the
 * connected one. A name with a private address counts as unresolved, unless the operator configured
 * the origin.
 */
export function vettingLookup(resolve: Resolve, isTrusted: boolean): LookupFunction {
  return (host, options, callback) => {
    resolve(host, (error, addresses = []) => {
      const [first] = addresses;
      const isVetted = isTrusted || addresses.every(({ address }) => isPublicAddress(address));
      if (error !== null || first === undefined || !isVetted)
        callback(error ?? new Error("The name has no usable address."), "", 0);
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}
