/**
 * The refusal of a path that does not exist. It names the address of a similar route, if there is
 * one.
 */

import { createNativeMatcher } from "@sluice/runtime/passthrough";
import { GatewayError, type HttpMethod, type NativeApi } from "@sluice/contract";
import { adminHint } from "./other-listener.ts";

/** Paths that another place of the gateway serves. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [
    /^\/(?:health(?:\/[a-z]*)?|(?:health|live|ready)z)$/,
    "The health checks are GET /health/live and GET /health/ready.",
  ],
  [
    /^\/(?:v1(?:beta)?\/?)?$/,
    "It is a base address, to which clients add the rest of a path. GET /openapi.json lists the paths.",
  ],
  [
    /^\/(?:v1\/)?completions$/,
    "No pipeline of this gateway has a route for it; the operator can add `{ route: POST /v1/completions, face: completions }` to the `routes` of a pipeline of chat.",
  ],
];

/** Shipped pipelines by the paths of their routes. */
export const SHIPPED_ROUTES: readonly (readonly [RegExp, string])[] = [
  [/^\/(?:v1\/)?(?:chat\/completions|responses)$/, "chat.yaml"],
  [/^\/v1\/messages$/, "chat.yaml"],
  [/^\/v1beta\/models\/.+:(?:generateContent|streamGenerateContent)$/, "chat.yaml"],
  [/^\/(?:v1\/)?embeddings$/, "embeddings.yaml"],
  [/^\/(?:v1\/)?images\/generations$/, "images.yaml"],
  [/^\/(?:v1\/)?model\/info$/, "model-info.yaml"],
  [/^\/(?:v1\/)?models(?:\/|$)/, "models.yaml"],
  [/^\/(?:v1\/)?responses\/resp_[^/]+(?:\/(?:input_items|cancel))?$/, "responses.yaml"],
  [/^\/spend\/(?:logs|tags|report)$/, "spend.yaml"],
  [/^\/spend\/calculate$/, "spend-calculate.yaml"],
  [/^\/v1\/(?:messages\/count_tokens|responses\/input_tokens)$/, "tokens.yaml"],
];

/** A provider's own API, under the provider's name. */
export interface NativeProvider {
  readonly name: string;
  readonly native: NativeApi;
}

/** What is known of a missing route. */
export interface MissingRoute {
  readonly path: string;
  readonly method?: string;
  /** A route that the client may have meant: `POST /v1/messages`. */
  readonly near?: string | undefined;
  /**
   * The APIs of the configured providers. They are absent for clients without a key, which must not
   * learn the names of providers.
   */
  readonly natives?: readonly NativeProvider[];
}

/** The refusal. */
export function missingRoute({
  path,
  method = "GET",
  near,
  natives = [],
}: MissingRoute): GatewayError {
  const hint = nearHint(near) ?? staticHint(path) ?? nativeHint(path, method, natives);
  const message = "This path does not exist.";
  return new GatewayError("route_not_found", hint === undefined ? message : `${message} ${hint}`);
}

function nearHint(near: string | undefined): string | undefined {
  if (near === undefined) return undefined;
  return `This gateway serves ${near}: correct the base address of the client.`;
}

function staticHint(path: string): string | undefined {
  const known = ELSEWHERE.find(([pattern]) => pattern.test(path));
  if (known !== undefined) return known[1];
  const shipped = SHIPPED_ROUTES.find(([pattern]) => pattern.test(path));
  if (shipped === undefined) return adminHint(path);
  return `No pipeline of this gateway has a route for it; the operator can copy pipelines/${shipped[1]} of the installation.`;
}

/** The native addresses whose declared endpoints are this path. */
function nativeHint(
  path: string,
  method: string,
  natives: readonly NativeProvider[],
): string | undefined {
  const asked = path.slice(1);
  const addresses = natives.flatMap(({ name, native }) => {
    const matches = createNativeMatcher(native.endpoints ?? []);
    // The client's base address may lack the version.
    const found = [asked, `v1/${asked}`].find(
      (endpoint) => matches(method as HttpMethod, endpoint) !== undefined,
    );
    return found === undefined ? [] : [`/${name}/${found}`];
  });
  if (addresses.length === 0) return undefined;
  return `A provider's own API is served under its name: ${addresses.slice(0, MAX_ADDRESSES).join(", ")}.`;
}

const MAX_ADDRESSES = 4;
