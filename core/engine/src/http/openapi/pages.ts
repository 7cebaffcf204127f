/** `/openapi.json` and `/docs`: what this gateway serves now, for anybody. */

import type { Generation } from "../../generation/generation.ts";
import type { FixedPage } from "../egress/page.ts";
import { openapiDocument } from "./document.ts";
import { DOCS_POLICY, docsPage } from "./html.ts";

interface Pages {
  readonly json: FixedPage;
  readonly html: FixedPage;
}

/** Made once for a generation, when first asked for. */
const made = new WeakMap<Generation, Pages>();

const COMMON = { "cache-control": "no-cache", "x-content-type-options": "nosniff" };

/** The page of a documentation path; `undefined` for every other path. */
export function openapiPage(path: string, generation: Generation): FixedPage | undefined {
  if (path !== "/openapi.json" && path !== "/docs") return undefined;
  let pages = made.get(generation);
  if (pages === undefined) {
    pages = makePages(generation);
    made.set(generation, pages);
  }
  return path === "/docs" ? pages.html : pages.json;
}

function makePages({ routes, snapshot }: Generation): Pages {
  const document = openapiDocument({ routes: routes.entries(), authHeaders: snapshot.server.authHeaders });
  return {
    json: { status: 200, type: "application/json", body: JSON.stringify(document), headers: COMMON },
    html: {
      status: 200,
      type: "text/html; charset=utf-8",
      body: docsPage(document),
      headers: { ...COMMON, "content-security-policy": DOCS_POLICY, "referrer-policy": "no-referrer" },
    },
  };
}
