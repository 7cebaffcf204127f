/**
 * The files of the dashboard under `/ui/`, from the package `@sluice/dashboard` where it is
 * installed. They are read and compressed once, with the first request.
 */

import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { matchesTag } from "./etag.ts";
import { missingPage } from "./missing-page.ts";

/** An answer to a request for a file. */
export interface FileAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
}

/** What the answer depends on. */
export interface FileRequest {
  readonly method: string | undefined;
  readonly path: string;
  readonly acceptEncoding: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** TLS ends here. */
  readonly isEncrypted: boolean;
}

interface UiFile {
  readonly type: string;
  readonly etag: string;
  readonly bytes: Uint8Array;
  readonly compressed: Uint8Array;
}

/** What `@sluice/dashboard` exports. */
interface DashboardPackage {
  readonly root: URL;
  readonly files: Readonly<
    Record<string, { readonly type: string; readonly integrity: string; readonly gz: number }>
  >;
}

const PREFIX = "/ui/";
/** Not a literal: the package is optional, and its types are not needed. */
const PACKAGE: string = "@sluice/dashboard";

/** The dashboard runs no code, style or font but its own, and talks to its own origin alone. */
export const UI_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "font-src 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const FEATURES = [
  "accelerometer",
  "camera",
  "display-capture",
  "geolocation",
  "gyroscope",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "publickey-credentials-get",
  "screen-wake-lock",
  "usb",
  "xr-spatial-tracking",
];

const SAFETY: Readonly<Record<string, string>> = {
  "content-security-policy": UI_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": FEATURES.map((name) => `${name}=()`).join(", "),
};

/** The request for a path. */
export function fileRequest(message: IncomingMessage, path: string): FileRequest {
  const { method, headers } = message;
  return {
    method,
    path,
    acceptEncoding: String(headers["accept-encoding"] ?? ""),
    ifNoneMatch: headers["if-none-match"],
    isEncrypted: (message.socket as TLSSocket).encrypted === true,
  };
}

/** Whether a path is one of the files: `/ui/session` and `/ui/code` are routes. */
export function isUiPath(path: string): boolean {
  return (
    (path === "/ui" || path.startsWith(PREFIX)) &&
    !/^\/ui\/(?:session|code|key)s?(?:\/|$)/.test(path)
  );
}

let loading: Promise<ReadonlyMap<string, UiFile> | undefined> | undefined;

/** Answers a request for a file. Nothing is needed to read the files: they hold no data. */
export async function answerFile(request: FileRequest): Promise<FileAnswer> {
  const { method, path, isEncrypted } = request;
  const headers = {
    ...SAFETY,
    ...(isEncrypted && { "strict-transport-security": "max-age=31536000" }),
  };
  if (method !== "GET" && method !== "HEAD")
    return { status: 405, headers: { ...headers, allow: "GET, HEAD" }, body: "" };
  // Relative: a proxy may have taken a part of the path away.
  if (path === "/ui") return { status: 301, headers: { ...headers, location: "ui/" }, body: "" };
  const files = await filesOf();
  if (files === undefined || files.size === 0) return missing(headers, files !== undefined);
  const file = files.get(path === PREFIX ? "index.html" : path.slice(PREFIX.length));
  if (file === undefined) return missing(headers, true, path);
  return answerOf(file, request, headers);
}

function answerOf(
  file: UiFile,
  { path, acceptEncoding = "", ifNoneMatch }: FileRequest,
  headers: Readonly<Record<string, string>>,
): FileAnswer {
  const isCompressed = /\bgzip\b/.test(acceptEncoding) && file.compressed !== file.bytes;
  const caching = path.startsWith(`${PREFIX}assets/`)
    ? "public, max-age=31536000, immutable"
    : "no-store";
  const all = {
    ...headers,
    "content-type": file.type,
    "cache-control": caching,
    vary: "accept-encoding",
    etag: file.etag,
  };
  if (matchesTag(ifNoneMatch, file.etag)) return { status: 304, headers: all, body: "" };
  if (!isCompressed) return { status: 200, headers: all, body: file.bytes };
  return { status: 200, headers: { ...all, "content-encoding": "gzip" }, body: file.compressed };
}

function missing(
  headers: Readonly<Record<string, string>>,
  isInstalled: boolean,
  path?: string,
): FileAnswer {
  const type = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" };
  return { status: 404, headers: { ...headers, ...type }, body: missingPage(isInstalled, path) };
}

/** The files; `undefined` without the package. A checkout may build them while it serves. */
async function filesOf(): Promise<ReadonlyMap<string, UiFile> | undefined> {
  loading ??= load();
  const files = await loading;
  if (files === undefined || files.size === 0) loading = undefined;
  return files;
}

async function load(): Promise<ReadonlyMap<string, UiFile> | undefined> {
  const found = await packageOf();
  if (found === undefined) return undefined;
  const { root, files } = found;
  const entries = Object.entries(files).map(async ([path, { type, integrity }]) => {
    const bytes = await readFile(new URL(path, root));
    const compressed = await promisify(gzip)(bytes, { level: 9 });
    const smaller = compressed.length < bytes.length ? compressed : bytes;
    return [path, { type, etag: `"${integrity}"`, bytes, compressed: smaller }] as const;
  });
  return new Map(await Promise.all(entries));
}

async function packageOf(): Promise<DashboardPackage | undefined> {
  try {
    return (await import(PACKAGE)) as DashboardPackage;
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code === "ERR_MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
