/**
 * Fixed pages on the wire: answers that need no exchange. The pages of the health paths have no
 * details, because their callers have no key.
 */

import type { ServerResponse } from "node:http";

/** An answer that is the same for every client. */
export interface FixedPage {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Writes a page. */
export function writePage(
  response: ServerResponse,
  page: FixedPage,
  headers: readonly string[],
): void {
  const all = [
    ...headers,
    "content-type",
    page.type,
    "content-length",
    String(Buffer.byteLength(page.body)),
  ];
  for (const [name, value] of Object.entries(page.headers ?? {})) all.push(name, value);
  response.writeHead(page.status, all);
  response.end(page.body);
}

/** The page of a health path; `undefined` for every other path. */
export function healthPage(path: string, isReady: () => boolean): FixedPage | undefined {
  const isHealthy =
    path === "/health/live" ? true : path === "/health/ready" ? isReady() : undefined;
  if (isHealthy === undefined) return undefined;
  return {
    status: isHealthy ? 200 : 503,
    type: "application/json",
    body: isHealthy ? '{"status":"ok"}' : '{"status":"unavailable"}',
  };
}

/** Whether a path is one of the documentation. */
export function isDocsPath(path: string): boolean {
  return path === "/openapi.json" || path === "/docs";
}
