/**
 * `/openapi.json` and `/docs`: the routes of the live generation, for requests with a valid key or,
 * where the operator opens them, for all.
 */

import type { IncomingMessage } from "node:http";
import { GatewayError } from "@sluice/contract";
import type { Generation } from "../../generation/generation.ts";
import type { FixedPage } from "../egress/page.ts";
import { presentedKey } from "../intake/presented-key.ts";
import { openapiDocument } from "./document.ts";
import { DOCS_POLICY, docsPage } from "./html.ts";

interface Pages {
  readonly json: FixedPage;
  readonly html: FixedPage;
}

const REFUSAL = "The API key is missing or not valid. Send it as: Authorization: Bearer sk-…";

/** Made once for a generation, when first asked for. */
const made = new WeakMap<Generation, Pages>();

const COMMON = { "cache-control": "no-cache", "x-content-type-options": "nosniff" };

/**
 * The page of a documentation path. Throws `authentication_failed` without a valid key, unless
 * `server.open_docs` is set.
 */
export async function openapiPage(
  path: string,
  generation: Generation,
  message: IncomingMessage,
): Promise<FixedPage> {
  const { server } = generation.snapshot;
  if (!server.openDocs) {
    const key = presentedKey(message.headers, server.authHeaders);
    const identity = key === undefined ? undefined : await generation.authority.identify(key);
    if (identity === undefined) throw new GatewayError("authentication_failed", REFUSAL);
  }
  let pages = made.get(generation);
  if (pages === undefined) {
    pages = makePages(generation);
    made.set(generation, pages);
  }
  return path === "/docs" ? pages.html : pages.json;
}

function makePages({ routes, snapshot }: Generation): Pages {
  const document = openapiDocument({
    routes: routes.entries(),
    authHeaders: snapshot.server.authHeaders,
  });
  return {
    json: {
      status: 200,
      type: "application/json",
      body: JSON.stringify(document),
      headers: COMMON,
    },
    html: {
      status: 200,
      type: "text/html; charset=utf-8",
      body: docsPage(document),
      headers: {
        ...COMMON,
        "content-security-policy": DOCS_POLICY,
        "referrer-policy": "no-referrer",
      },
    },
  };
}
