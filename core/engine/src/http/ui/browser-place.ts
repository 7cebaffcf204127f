/**
 * What a browser calls the admin listener: the allow-list of `Host`, and the origin that the
 * requests of its pages have.
 */

import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { GatewayError } from "@sluice/contract";

/** The settings of the listener that decide. */
export interface BrowserSettings {
  /** The configured address. */
  readonly host: string;
  /** What the browser sees where something stands in front of the listener. */
  readonly publicUrl?: string;
  /** Further names for programs that reach the listener by one: `server.admin.hosts`. */
  readonly hosts: readonly string[];
}

/** Where a request reached the listener, as its browser sees it. */
export interface BrowserPlace {
  /** `http://127.0.0.1:4001` */
  readonly origin: string;
  /** No other machine reads the connection in plain text: a session may be opened. */
  readonly isPrivate: boolean;
}

const LOCAL_NAMES: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1"]);
const MAX_PORT = 65_535;
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/;

/**
 * The place of a request. Throws `misdirected_request` for a `Host` that is not the listener's:
 * after DNS rebinding, a foreign page would otherwise reach it through the operator's browser.
 */
export function browserPlace(request: IncomingMessage, settings: BrowserSettings): BrowserPlace {
  const [authority = "", ...others] = (request.headersDistinct["host"] ?? []).map((one) =>
    one.toLowerCase(),
  );
  // With two names, or one in the request line too (RFC 9112 §3.2), readers choose differently.
  if (others.length > 0 || request.url?.startsWith("/") !== true) throw misdirected();
  const [, bracketed = "", port = "0"] = AUTHORITY.exec(authority) ?? [];
  const name = bracketed.replace(/^\[|\]$/g, "");
  const socket = request.socket as TLSSocket;
  const { publicUrl } = settings;
  if (publicUrl !== undefined && new URL(publicUrl).host === withoutDefault(authority, publicUrl)) {
    const { origin, protocol, hostname } = new URL(publicUrl);
    return { origin, isPrivate: protocol === "https:" || LOCAL_NAMES.has(hostname) };
  }
  if (name === "" || Number(port) > MAX_PORT || !isOwn(name, settings)) throw misdirected();
  const isTls = socket.encrypted === true;
  const shown = withoutDefault(authority, isTls ? "https:" : "http:");
  return {
    origin: `${isTls ? "https" : "http"}://${shown}`,
    isPrivate: isTls || isLoopback(socket.localAddress),
  };
}

function isOwn(name: string, { host, hosts }: BrowserSettings): boolean {
  if (LOCAL_NAMES.has(name) || name === host.toLowerCase()) return true;
  if (hosts.some((one) => one.toLowerCase() === name)) return true;
  // On all addresses of the machine, each of them is its own. An address cannot be rebound.
  return (host === "0.0.0.0" || host === "::") && isIP(name) !== 0;
}

/** An origin has no port where it is that of the scheme. */
function withoutDefault(authority: string, url: string): string {
  return authority.replace(url.startsWith("https:") ? /:443$/ : /:80$/, "");
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && (/^(?:::ffff:)?127\./.test(address) || address === "::1");
}

function misdirected(): GatewayError {
  return new GatewayError(
    "misdirected_request",
    "The header host names no address of the admin listener. Use its address, or set server.admin.public_url or server.admin.hosts.",
    { headers: { connection: "close" } },
  );
}

/** The cookie of a session. Over TLS its prefix keeps other hosts and paths from setting it. */
export interface SessionCookie {
  readonly name: string;
  readonly isSecure: boolean;
}

/**
 * The cookie at a place. Cookies know no ports: without TLS the name holds it, so that two gateways
 * of one machine have two.
 */
export function cookieAt({ origin }: BrowserPlace): SessionCookie {
  const { protocol, port } = new URL(origin);
  if (protocol === "https:") return { name: "__Host-sluice", isSecure: true };
  return { name: `sluice_${port || "80"}`, isSecure: false };
}

/** The value of a cookie of a request; `undefined` without it, and where it is there twice. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  const values = (header ?? "").split(";").flatMap((part) => {
    const [key = "", value = ""] = part.split("=", 2);
    return key.trim() === name ? [value.trim()] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}

/** The header that sets the cookie, or that takes it away where the value is empty. */
export function setCookie(
  { name, isSecure }: SessionCookie,
  value: string,
  maxAgeS: number,
): string {
  const secure = isSecure ? "; Secure" : "";
  return `${name}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`;
}
