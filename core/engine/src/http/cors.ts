/**
 * Requests from pages of other origins: only where the configuration lists the origin, and never
 * with cookies.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { CorsSettings } from "../config/snapshot.ts";

/** Headers that a page may read. */
const EXPOSED = [
  "x-request-id",
  "x-sluice-generation",
  "x-sluice-model",
  "x-sluice-provider",
  "x-sluice-attempts",
  "x-sluice-fallbacks",
  "x-sluice-fallback-skipped",
  "x-sluice-cache",
  "x-sluice-guardrails",
  "x-sluice-dropped-params",
  "x-sluice-cost",
  "x-sluice-next-cursor",
  "x-sluice-overhead-ms",
  "x-sluice-explain",
  "x-upstream-request-id",
  "x-ratelimit-limit-requests",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-reset-requests",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-tokens",
  "retry-after",
].join(", ");

/** Sets the headers that let an origin read the response. Does nothing for an unlisted origin. */
export function allowOrigin(
  settings: CorsSettings,
  message: IncomingMessage,
  response: ServerResponse,
): void {
  const { origin } = message.headers;
  const isAny = settings.origins.includes("*");
  // Without it a shared cache might hand one origin's answer to another.
  if (!isAny) response.setHeader("vary", "origin");
  if (origin === undefined || !(isAny || settings.origins.includes(origin))) return;
  response.setHeader("access-control-allow-origin", isAny ? "*" : origin);
  response.setHeader("access-control-expose-headers", EXPOSED);
}

/** The answer to a preflight of a listed origin. `methods` are those of the path. */
export function allowPreflight(
  settings: CorsSettings,
  message: IncomingMessage,
  response: ServerResponse,
  methods: readonly string[],
): void {
  const headers = message.headers["access-control-request-headers"];
  if (
    !response.hasHeader("access-control-allow-origin") ||
    message.headers["access-control-request-method"] === undefined
  )
    return;
  response.setHeader("access-control-allow-methods", methods.join(", "));
  if (headers !== undefined && /^[\w\-, ]{1,2000}$/.test(headers))
    response.setHeader("access-control-allow-headers", headers);
  response.setHeader("access-control-max-age", String(Math.floor(settings.maxAgeMs / 1000)));
}
